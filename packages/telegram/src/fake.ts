/** `jobmill-telegram/fake`: a Telegram to develop and test against, on this machine. */
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
