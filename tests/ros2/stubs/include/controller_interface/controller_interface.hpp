#pragma once
#include <any>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "rclcpp/qos.hpp"
#include "rclcpp/subscription.hpp"
#include "rclcpp/time.hpp"
#include "rclcpp_lifecycle/state.hpp"

namespace hardware_interface
{
class LoanedStateInterface
{
public:
  explicit LoanedStateInterface(double * value) : value_(value) {}
  double get_value() const {return *value_;}

protected:
  double * value_;
};
class LoanedCommandInterface : public LoanedStateInterface
{
public:
  using LoanedStateInterface::LoanedStateInterface;
  [[nodiscard]] bool set_value(double value) {*value_ = value; return true;}
};
}  // namespace hardware_interface

namespace controller_interface
{
enum class CallbackReturn : std::uint8_t {SUCCESS, FAILURE, ERROR};
enum class return_type : std::uint8_t {OK, ERROR};
enum class interface_configuration_type : std::uint8_t {ALL, INDIVIDUAL, NONE};
struct InterfaceConfiguration
{
  interface_configuration_type type;
  std::vector<std::string> names;
};

// The node that a controller gets: parameters by name, and what it subscribes to.
class Node
{
public:
  template<typename Message, typename Callback>
  typename rclcpp::Subscription<Message>::SharedPtr create_subscription(
    const std::string & topic, const rclcpp::QoS &, Callback callback)
  {
    auto made = std::make_shared<rclcpp::Subscription<Message>>();
    made->callback = callback;
    subscriptions[topic] = made;
    return made;
  }
  std::map<std::string, std::any> parameters;
  std::map<std::string, std::any> subscriptions;
};

class ControllerInterface
{
public:
  virtual ~ControllerInterface() = default;
  virtual CallbackReturn on_init() = 0;
  virtual CallbackReturn on_configure(const rclcpp_lifecycle::State &) = 0;
  virtual CallbackReturn on_activate(const rclcpp_lifecycle::State &) = 0;
  virtual CallbackReturn on_deactivate(const rclcpp_lifecycle::State &) = 0;
  virtual InterfaceConfiguration command_interface_configuration() const = 0;
  virtual InterfaceConfiguration state_interface_configuration() const = 0;
  virtual return_type update(const rclcpp::Time & time, const rclcpp::Duration & period) = 0;
  std::shared_ptr<Node> get_node() const {return node_;}
  void assign_interfaces(
    std::vector<hardware_interface::LoanedCommandInterface> && commands,
    std::vector<hardware_interface::LoanedStateInterface> && states)
  {
    command_interfaces_ = std::move(commands);
    state_interfaces_ = std::move(states);
  }

protected:
  template<typename T>
  T auto_declare(const std::string & name, const T & otherwise)
  {
    const auto found = node_->parameters.find(name);
    return found == node_->parameters.end() ? otherwise : std::any_cast<T>(found->second);
  }
  std::vector<hardware_interface::LoanedCommandInterface> command_interfaces_;
  std::vector<hardware_interface::LoanedStateInterface> state_interfaces_;

private:
  std::shared_ptr<Node> node_ = std::make_shared<Node>();
};
}  // namespace controller_interface
