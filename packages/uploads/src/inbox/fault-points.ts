/**
 * The fault points of the inbox, where a test can stop the process or fill the disk. The same guarantees hold
 * after each.
 */
export const FAULT_POINTS = [
  // An upload.
  'receive:staged',
  'receive:written',
  'receive:complete',
  'receive:rows',
  'receive:committed',
  // A refused upload.
  'discard:blob',
  'discard:blobs',
  // A fetch and its acknowledgement.
  'fetch:read',
  'fetch:sent',
  'fetch:stamped',
  'ack:before',
  'ack:after',
  // A pass of the sweep.
  'sweep:marked',
  'sweep:blob',
  'sweep:blobs',
  'sweep:rows',
  'sweep:staging-marked',
  'sweep:staging-blob',
  'sweep:staging-blobs',
  'sweep:staging-rows',
  'sweep:orphan',
] as const

export type FaultPoint = (typeof FAULT_POINTS)[number]
