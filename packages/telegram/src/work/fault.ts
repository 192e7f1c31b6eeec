/** Where a test may end the process: between any two steps that something depends on. Nothing happens there otherwise. */
export const FAULT_POINTS = [
  // An update that came over the socket: before it is received, and before Telegram hears of it.
  'webhook.received',
  'webhook.stored',
  // One that was fetched: before it is received, and before it is acknowledged.
  'poll.received',
  'poll.taken',
  // While Telegram waits: claimed, handled and not written, written; failed and not written; dead and not written.
  'sync.claimed',
  'sync.handled',
  'sync.written',
  'sync.failed',
  'sync.dead',
  // As a job: begun; what is to be sent is known, and not written.
  'update.begun',
  'update.prompted',
  'update.handled',
  'dead.begun',
  // A code is used up or counted, and no session open; it is open, and nobody was told.
  'login.tried',
  'login.opened',
  // A reply: before Telegram hears of it, and before we write that it did; its chat is another one, and not written.
  'send.begun',
  'send.accepted',
  'send.moved',
] as const

export type FaultPoint = (typeof FAULT_POINTS)[number]

/** `chatId`: in the course of whose update. */
export type Fault = (point: FaultPoint, chatId: number | null) => void | Promise<void>
