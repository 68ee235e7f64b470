#pragma once
namespace rclcpp
{
class QoS {};
class SystemDefaultsQoS : public QoS {};
}  // namespace rclcpp
