/** Every place between two steps where a test can let the process die, or a disk fill up. What must be true afterwards is the same for all of them. */
export const FAULT_POINTS = [
  // An upload.
  'receive:staged',
  'receive:written',
  'receive:complete',
  'receive:rows',
  'receive:committed',
  // An upload that is refused.
  'discard:blob',
  'discard:blobs',
  // A fetch, and its acknowledgement.
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
