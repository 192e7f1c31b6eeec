/**
 * Fault points, where a test can stop the process between two dependent steps. They do nothing in production.
 */
export const FAULT_POINTS = [
  // A webhook update: before it is received, and before Telegram gets the response.
  'webhook.received',
  'webhook.stored',
  // A polled update: before it is received, and before it is acknowledged.
  'poll.received',
  'poll.taken',
  // An update job has begun.
  'update.begun',
  // Its login prompt is known but not written.
  'update.prompted',
  // Its replies are known but not written.
  'update.handled',
  // The job that reports a dead update has begun.
  'dead.begun',
  // A login code is used or counted, but no session is open.
  'login.tried',
  // The session is open, but the user has no reply.
  'login.opened',
  // A reply: before the call to Telegram.
  'send.begun',
  // After the call, but before its outcome is written.
  'send.accepted',
  // The chat has moved, but that is not written.
  'send.moved',
] as const

export type FaultPoint = (typeof FAULT_POINTS)[number]

/** `chatId`: the chat of the update. */
export type Fault = (point: FaultPoint, chatId: number | null) => void | Promise<void>
