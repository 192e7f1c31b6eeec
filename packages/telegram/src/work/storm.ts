/** When Telegram refuses many chats at once, it is the bot that it refuses. */

/** One chat that is written to too often, or two, are no storm. */
const CHATS = 3
const WITHIN_MS = 1_000

/** Says of each refusal whether it is one too many: of so many different chats within a second. */
export function stormWatch(): (chat: number | string | null, at: number) => boolean {
  let recent: { readonly chat: number | string | null; readonly at: number }[] = []
  return (chat, at) => {
    recent = [...recent.filter((one) => one.chat !== chat && Math.abs(at - one.at) < WITHIN_MS), { chat, at }]
    return recent.length >= CHATS
  }
}
