#pragma once
#include <functional>
#include <memory>
namespace rclcpp
{
template<typename Message>
class Subscription
{
public:
  using SharedPtr = std::shared_ptr<Subscription<Message>>;
  std::function<void (std::shared_ptr<Message>)> callback;
};
}  // namespace rclcpp
