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
  // An update job: begun; its login prompt or its replies are known but not written; the job for the notice
  // of a dead update has begun.
  'update.begun',
  'update.prompted',
  'update.handled',
  'dead.begun',
  // A login: the code is used or counted but no session is open; the session is open but the user has no
  // reply.
  'login.tried',
  'login.opened',
  // A reply: before the call; after the call but before its outcome is written; its chat has moved, but that
  // is not written.
  'send.begun',
  'send.accepted',
  'send.moved',
] as const

export type FaultPoint = (typeof FAULT_POINTS)[number]

/** `chatId`: the chat of the update. */
export type Fault = (point: FaultPoint, chatId: number | null) => void | Promise<void>
