/** `jobmill-telegram/fake`: a local Telegram server for development and tests. */
export { fakeTelegram } from './fake/fake-telegram.ts'
export type {
  CallAnswer,
  ChatOptions,
  ChatStanding,
  Delivery,
  FakeCall,
  FakeChat,
  FakeTelegram,
  FakeTelegramOptions,
  FakeUser,
  Fault,
  FaultyAnswer,
  NewBot,
  Said,
  SaysOptions,
  SendLimits,
  TranscriptEntry,
} from './fake/types.ts'
