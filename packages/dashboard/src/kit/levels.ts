/** The levels of diagnostics: word, text color and color of the severity bar. */
import type { Diagnostic } from '../api/types.ts'

interface Level {
  readonly word: string
  readonly text: string
  readonly bar: string
}

export const LEVELS: Readonly<Record<Diagnostic['level'], Level>> = {
  error: { word: 'Error', text: 'text-dead', bar: 'bg-dead' },
  warning: { word: 'Warning', text: 'text-ready', bar: 'bg-ready' },
  notice: { word: 'Notice', text: 'text-soft', bar: 'bg-line' },
}
