// A controller for ros2_control that forwards torques while they come, and holds the arm by the generated C where they do not.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "controller_interface/controller_interface.hpp"
#include "rclcpp/subscription.hpp"
#include "rclcpp/time.hpp"
#include "rclcpp_lifecycle/state.hpp"
#include "realtime_tools/realtime_buffer.hpp"
#include "std_msgs/msg/float64_multi_array.hpp"

namespace diffpbd_example
{

class ForwardOrHold : public controller_interface::ControllerInterface
{
public:
  controller_interface::CallbackReturn on_init() override;
  controller_interface::CallbackReturn on_configure(const rclcpp_lifecycle::State &) override;
  controller_interface::CallbackReturn on_activate(const rclcpp_lifecycle::State &) override;
  controller_interface::CallbackReturn on_deactivate(const rclcpp_lifecycle::State &) override;
  controller_interface::InterfaceConfiguration command_interface_configuration() const override;
  controller_interface::InterfaceConfiguration state_interface_configuration() const override;
  controller_interface::return_type update(const rclcpp::Time & time, const rclcpp::Duration & period) override;

private:
  using Torques = std_msgs::msg::Float64MultiArray;
  using Values = std::vector<double>;

  bool read_state();  // whether all of it is finite
  void hold(Values & torque);
  void inverse_dynamics(const Values & acceleration, Values & torque);
  void send(const Values & wanted, double seconds);

  std::vector<std::string> joints_;
  Values effort_;           // N·m, limits
  double timeout_ = 0.1;    // s without a torque after which the arm is held
  double frequency_ = 15.0;  // 1/s, of the joints while they are held
  bool robot_compensates_ = false;

  // Everything below is of a fixed size once configured: update allocates nothing.
  Values alpha_, work_, zero_, q_, dq_, pose_, acceleration_, torque_, own_, sent_;
  realtime_tools::RealtimeBuffer<std::shared_ptr<Torques>> buffer_;
  std::shared_ptr<Torques> newest_;
  rclcpp::Time heard_;
  bool held_ = true;
  rclcpp::Subscription<Torques>::SharedPtr subscription_;
};

}  // namespace diffpbd_example
