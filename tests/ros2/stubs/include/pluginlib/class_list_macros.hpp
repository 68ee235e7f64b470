#pragma once
#define PLUGINLIB_EXPORT_CLASS(Class, Base) \
  static_assert(std::is_base_of<Base, Class>::value, "a plugin of its base");
