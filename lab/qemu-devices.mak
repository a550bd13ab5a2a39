# The devices of the lab's QEMU: what a pseries guest with virtio disks and
# serial ports needs. The last four are there because pseries does not link or
# start without them.
CONFIG_PSERIES=y
CONFIG_VIRTIO_PCI=y
CONFIG_VIRTIO_BLK=y
CONFIG_VIRTIO_SERIAL=y
CONFIG_USB_OHCI_PCI=y
CONFIG_NVDIMM=y
CONFIG_MEM_DEVICE=y
CONFIG_DIMM=y
