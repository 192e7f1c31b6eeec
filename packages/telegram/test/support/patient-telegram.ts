/** The fake Telegram with long timeouts, for busy machines. */
import { fakeTelegram } from '../../src/fake/fake-telegram.ts'
import type { FakeTelegram, FakeTelegramOptions } from '../../src/fake/types.ts'

/** Only a failing wait takes this long. */
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
