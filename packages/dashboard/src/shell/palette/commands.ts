/** The commands of the palette, and which of them match a text. */
import type { LucideIcon } from 'lucide-react'

export interface Command {
  /** Unique, also between a queue and a kind with the same name. */
  readonly id: string
  readonly name: string
  /** `Queue`, `Kind`, `Action`: shown next to the name, and searched. */
  readonly type: string
  readonly icon: LucideIcon
  /** Offered before something is typed. */
  readonly isFirst?: boolean
  readonly run: () => void
}

const MOST_SHOWN = 30

/** Every word must occur. Names that start with the words come first, then words inside of names. */
export function matching(commands: readonly Command[], text: string): readonly Command[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return commands.filter(({ isFirst }) => isFirst === true)
  return commands
    .map((command) => ({ command, cost: costOf(command, words) }))
    .filter(({ cost }) => Number.isFinite(cost))
    .toSorted((a, b) => a.cost - b.cost)
    .slice(0, MOST_SHOWN)
    .map(({ command }) => command)
}

function costOf({ name, type }: Command, words: readonly string[]): number {
  const low = name.toLowerCase()
  return words.reduce((sum, word) => sum + costOfWord(low, type.toLowerCase(), word), 0)
}

function costOfWord(name: string, type: string, word: string): number {
  const at = name.indexOf(word)
  if (at === 0) return 0
  if (at === -1) return type.startsWith(word) ? 3 : Number.POSITIVE_INFINITY
  return /[a-z\d]/.test(name[at - 1] ?? '') ? 2 : 1
}

const ID = /^["'`\s]*([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})["'`,;\s]*$/i

/** The id of a job, as copied from a log line or from code; null for any other text. */
export const jobIdIn = (text: string): string | null => ID.exec(text)?.[1]?.toLowerCase() ?? null
