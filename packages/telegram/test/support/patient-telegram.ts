/** The fake Telegram of these tests: what it is waited for comes when it comes, also on a busy machine. */
import { fakeTelegram } from '../../src/fake/fake-telegram.ts'
import type { FakeTelegram, FakeTelegramOptions } from '../../src/fake/types.ts'

/** Only what never comes takes this long. */
export const PATIENCE_MS = 60_000

export async function patientTelegram(options?: FakeTelegramOptions): Promise<FakeTelegram> {
  const fake = await fakeTelegram(options)
  return {
    ...fake,
    until: (holds, timeoutMs = PATIENCE_MS) => fake.until(holds, timeoutMs),
    chat(of) {
      const chat = fake.chat(of)
      return { ...chat, until: (holds, timeoutMs = PATIENCE_MS) => chat.until(holds, timeoutMs) }
    },
  }
}
