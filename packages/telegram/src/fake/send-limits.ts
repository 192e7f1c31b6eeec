/**
 * Counts messages in sliding windows. Telegram does not publish its limits; this is a strict reading of its
 * advice.
 */
import { tooMany } from './refusal.ts'
import type { SendLimits } from './types.ts'

const SECOND = 1_000
const MINUTE = 60_000

export type TakePlace = (bot: number, chat: { readonly id: number; readonly isGroup: boolean }) => void

/** Throws if one more message would exceed a limit. */
export function sendLimits(limits: SendLimits, clock: () => number): TakePlace {
  const { perChatPerSecond, perGroupPerMinute, perBotPerSecond, slackMs = 100 } = limits
  const sent = new Map<string, number[]>()
  return (bot, { id, isGroup }) => {
    const now = clock()
    const windows = [
      { key: `bot ${bot}`, most: perBotPerSecond, ms: SECOND },
      { key: `chat ${bot} ${id}`, most: perChatPerSecond, ms: SECOND },
      { key: `group ${bot} ${id}`, most: isGroup ? perGroupPerMinute : undefined, ms: MINUTE },
    ].flatMap(({ key, most, ms }) => {
      if (most === undefined) return []
      const within = (sent.get(key) ?? []).filter((at) => at > now - (ms - slackMs))
      sent.set(key, within)
      // A slot frees up when the oldest of the last `most` messages leaves the window.
      const freeAt = within.length < most ? now : (within.at(-most) ?? now) + ms
      return [{ within, freeAt }]
    })
    const freeAt = Math.max(now, ...windows.map((one) => one.freeAt))
    if (freeAt > now) throw tooMany(Math.ceil((freeAt - now) / SECOND))
    for (const { within } of windows) within.push(now)
  }
}
