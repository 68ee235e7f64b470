#pragma once
namespace realtime_tools
{
template<typename T>
class RealtimeBuffer
{
public:
  RealtimeBuffer() = default;
  explicit RealtimeBuffer(const T & value) : value_(value) {}
  void writeFromNonRT(const T & value) {value_ = value;}
  T * readFromRT() {return &value_;}

private:
  T value_{};
};
}  // namespace realtime_tools
