/** Splits a filter into parts: as typed, as displayed, and the filter without each part. */
import { instant } from '../../../kit/text/format.ts'
import { type Filter, type TextKey, TEXTS, TIME_KEYS, TIMES } from './filter.ts'
import { printPath, printValue, printWord } from './parts.ts'
import { printWhen, type When } from './when.ts'

export interface Chip {
  /** The text as typed. */
  readonly text: string
  /** The label as displayed: "queue", "mail". */
  readonly name: string
  readonly value: string
  readonly without: Filter
}

export function chipsOf(filter: Filter): readonly Chip[] {
  const { state, tags, payload, text } = filter
  const chips: Chip[] = []
  const add = (written: string, name: string, value: string, without: Partial<Filter>): void => {
    chips.push({ text: written, name, value, without: { ...filter, ...without } })
  }
  const addText = (key: TextKey): void => {
    const value = filter[key]
    if (value !== null) add(`${key}:${printValue(value)}`, TEXTS[key].label, value, { [key]: null })
  }
  addText('queue')
  addText('kind')
  if (state !== null) add(`state:${state}`, 'state', state, { state: null })
  for (const tag of tags)
    add(`tag:${printValue(tag)}`, 'tag', tag, { tags: tags.filter((one) => one !== tag) })
  for (const key of TIME_KEYS) {
    const when = filter[key]
    const { label, side } = TIMES[key]
    if (when !== null) add(`${key}:${printWhen(when)}`, label, whenText(when, side), { [key]: null })
  }
  addText('version')
  addText('order')
  addText('group')
  addText('dedupe')
  addText('error')
  for (const one of payload)
    add(`payload.${printPath(one.path)}:${printValue(one.value)}`, `payload ${one.path} is`, one.value, {
      payload: payload.filter((other) => other !== one),
    })
  if (text !== null) add(printWord(text), 'payload contains', text, { text: null })
  return chips
}

function whenText(when: When, side: 'after' | 'before'): string {
  if ('at' in when) return `${side} ${instant(when.at).replace(/ \(.*/, '')}`
  return side === 'after' ? `in the last ${when.ago}` : `more than ${when.ago} ago`
}

/** Text that `parse` reads back as the same filter. */
export const print = (filter: Filter): string =>
  chipsOf(filter)
    .map(({ text }) => text)
    .join(' ')
