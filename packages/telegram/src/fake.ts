/** `jobmill-telegram/fake`: a local Telegram server for development and tests. */
export { fakeTelegram } from './fake/fake-telegram.ts'
export type * from './fake/types.ts'
