/** Detects that Telegram throttles the whole bot: it then throttles several chats at once. */

/** One or two throttled chats are not a bot-wide limit. */
const CHATS = 3
const WITHIN_MS = 1_000

/** Returns true if this many different chats were throttled within a second. */
export function stormWatch(): (chat: number | string | null, at: number) => boolean {
  let recent: { readonly chat: number | string | null; readonly at: number }[] = []
  return (chat, at) => {
    recent = [...recent.filter((one) => one.chat !== chat && Math.abs(at - one.at) < WITHIN_MS), { chat, at }]
    return recent.length >= CHATS
  }
}
