# a stand-in
