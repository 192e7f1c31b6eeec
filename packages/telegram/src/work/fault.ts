/** Where a test may end the process: between any two steps that something depends on. Nothing happens there otherwise. */
export const FAULT_POINTS = [
  'webhook.received',
  'webhook.stored',
  'sync.claimed',
  'sync.handled',
  'sync.written',
  'update.begun',
  'update.handled',
  'send.begun',
  'send.accepted',
  'dead.begun',
] as const

export type FaultPoint = (typeof FAULT_POINTS)[number]

export type Fault = (point: FaultPoint) => void | Promise<void>
