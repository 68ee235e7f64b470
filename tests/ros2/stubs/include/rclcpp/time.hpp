#pragma once
namespace rclcpp
{
class Duration
{
public:
  explicit Duration(double seconds) : seconds_(seconds) {}
  double seconds() const {return seconds_;}

private:
  double seconds_;
};
class Time
{
public:
  explicit Time(double seconds = 0.0) : seconds_(seconds) {}
  Duration operator-(const Time & other) const {return Duration(seconds_ - other.seconds_);}

private:
  double seconds_;
};
}  // namespace rclcpp
