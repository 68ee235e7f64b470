#include "forward_or_hold.hpp"

#include <algorithm>
#include <cmath>

#include "rclcpp/qos.hpp"

// CMake says which generated robot this is built for: ROBOT arm, ROBOT_CAPITALS ARM, ROBOT_HEADER "arm.h".
#include ROBOT_HEADER
#define JOINED_(a, b) a##_##b
#define JOINED(a, b) JOINED_(a, b)
#define OF_ROBOT(name) JOINED(ROBOT, name)
#define CONSTANT(name) JOINED(ROBOT_CAPITALS, name)

namespace diffpbd_example
{
namespace
{
using controller_interface::CallbackReturn;
using controller_interface::InterfaceConfiguration;
using controller_interface::return_type;

constexpr double kRateShare = 10.0;  // 1/s: full effort in a tenth of a second
constexpr double kRest = 0.05;       // rad/s; above it the arm is braked, below it its pose is held
constexpr std::size_t kJoints = CONSTANT(JOINTS);

bool finite(const std::vector<double> & values)
{
  return std::all_of(values.begin(), values.end(), [](double value) {return std::isfinite(value);});
}

// The share of `wanted` that `allowed` leaves, one for all joints: torques that are clipped one by one are another mixture.
double share(double wanted, double allowed)
{
  return std::abs(wanted) > allowed ? allowed / std::abs(wanted) : 1.0;
}
}  // namespace

CallbackReturn ForwardOrHold::on_init()
{
  joints_ = auto_declare<std::vector<std::string>>("joints", {});
  effort_ = auto_declare<std::vector<double>>("effort", {});
  timeout_ = auto_declare<double>("timeout", timeout_);
  frequency_ = auto_declare<double>("frequency", frequency_);
  robot_compensates_ = auto_declare<bool>("robot_compensates_gravity", robot_compensates_);
  return CallbackReturn::SUCCESS;
}

CallbackReturn ForwardOrHold::on_configure(const rclcpp_lifecycle::State &)
{
  const bool limits = finite(effort_) && std::all_of(effort_.begin(), effort_.end(), [](double e) {return e > 0.0;});
  const bool positive = timeout_ > 0.0 && frequency_ > 0.0;
  if (joints_.size() != kJoints || effort_.size() != kJoints || !limits || !positive) {
    return CallbackReturn::ERROR;  // joints and effort need one entry a joint of the generated robot, in its order
  }
  alpha_.resize(CONSTANT(ALPHA));
  OF_ROBOT(alpha_defaults)(alpha_.data());
  work_.resize(static_cast<std::size_t>(OF_ROBOT(inverse_dynamics_work_size)()));
  for (auto * values : {&zero_, &q_, &dq_, &pose_, &acceleration_, &torque_, &own_, &sent_}) {
    values->assign(kJoints, 0.0);
  }
  subscription_ = get_node()->create_subscription<Torques>(
    "~/commands", rclcpp::SystemDefaultsQoS(), [this](const std::shared_ptr<Torques> message) {
      if (message->data.size() == kJoints && finite(message->data)) {
        buffer_.writeFromNonRT(message);
      }
    });
  return CallbackReturn::SUCCESS;
}

InterfaceConfiguration ForwardOrHold::command_interface_configuration() const
{
  InterfaceConfiguration wanted{controller_interface::interface_configuration_type::INDIVIDUAL, {}};
  for (const auto & joint : joints_) {
    wanted.names.push_back(joint + "/effort");
  }
  return wanted;
}

InterfaceConfiguration ForwardOrHold::state_interface_configuration() const
{
  InterfaceConfiguration wanted{controller_interface::interface_configuration_type::INDIVIDUAL, {}};
  for (const auto & joint : joints_) {
    wanted.names.push_back(joint + "/position");
    wanted.names.push_back(joint + "/velocity");
  }
  return wanted;
}

CallbackReturn ForwardOrHold::on_activate(const rclcpp_lifecycle::State &)
{
  if (command_interfaces_.size() != kJoints || state_interfaces_.size() != 2 * kJoints || !read_state()) {
    return CallbackReturn::ERROR;
  }
  buffer_ = realtime_tools::RealtimeBuffer<std::shared_ptr<Torques>>(nullptr);
  newest_.reset();
  held_ = true;
  pose_ = q_;
  hold(sent_);  // the first torque holds the arm: a ramp from zero would let it fall
  return CallbackReturn::SUCCESS;
}

CallbackReturn ForwardOrHold::on_deactivate(const rclcpp_lifecycle::State &)
{
  for (auto & interface : command_interfaces_) {
    (void)interface.set_value(0.0);
  }
  return CallbackReturn::SUCCESS;
}

return_type ForwardOrHold::update(const rclcpp::Time & time, const rclcpp::Duration & period)
{
  const auto message = *buffer_.readFromRT();
  if (message && message != newest_) {
    newest_ = message;
    heard_ = time;
  }
  const bool fresh = newest_ && (time - heard_).seconds() <= timeout_;
  if (!read_state()) {
    send(sent_, period.seconds());  // what was sent before; the hardware stops on such states itself
    return return_type::OK;
  }
  if (fresh) {
    held_ = false;
    send(newest_->data, period.seconds());
    return return_type::OK;
  }
  const bool moves = std::any_of(dq_.begin(), dq_.end(), [](double rate) {return std::abs(rate) > kRest;});
  if (!held_) {
    pose_ = q_;
    held_ = !moves;
  }
  hold(torque_);
  send(torque_, period.seconds());
  return return_type::OK;
}

bool ForwardOrHold::read_state()
{
  for (std::size_t k = 0; k < kJoints; ++k) {
    q_[k] = state_interfaces_[2 * k].get_value();
    dq_[k] = state_interfaces_[2 * k + 1].get_value();
  }
  return finite(q_) && finite(dq_);
}

// M(q) (w² (pose − q) − 2 w dq) and what holds the arm, by the generated inverse dynamics; less its gravity where the robot adds it.
void ForwardOrHold::hold(Values & torque)
{
  for (std::size_t k = 0; k < kJoints; ++k) {
    acceleration_[k] = frequency_ * (frequency_ * (pose_[k] - q_[k]) - 2.0 * dq_[k]);
  }
  inverse_dynamics(acceleration_, torque);
  if (robot_compensates_) {
    inverse_dynamics(zero_, own_);
    for (std::size_t k = 0; k < kJoints; ++k) {
      torque[k] -= own_[k];
    }
  }
}

void ForwardOrHold::inverse_dynamics(const Values & acceleration, Values & torque)
{
  const double * const in[] = {q_.data(), zero_.data(), acceleration.data(), alpha_.data()};
  double * const out[] = {torque.data()};
  OF_ROBOT(inverse_dynamics)(in, out, work_.data());
}

void ForwardOrHold::send(const Values & wanted, double seconds)
{
  double whole = 1.0, change = 1.0;
  for (std::size_t k = 0; k < kJoints; ++k) {
    whole = std::min(whole, share(wanted[k], effort_[k]));
  }
  for (std::size_t k = 0; k < kJoints; ++k) {
    change = std::min(change, share(whole * wanted[k] - sent_[k], kRateShare * effort_[k] * seconds));
  }
  for (std::size_t k = 0; k < kJoints; ++k) {
    sent_[k] += change * (whole * wanted[k] - sent_[k]);
    (void)command_interfaces_[k].set_value(sent_[k]);
  }
}

}  // namespace diffpbd_example

#include "pluginlib/class_list_macros.hpp"
PLUGINLIB_EXPORT_CLASS(diffpbd_example::ForwardOrHold, controller_interface::ControllerInterface)
