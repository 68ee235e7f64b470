"""Any arm with an effort interface, over ROS 2: DDS by the wheel `cyclonedds`, no ROS installation."""
