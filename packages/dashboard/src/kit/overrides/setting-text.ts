/** Formats the value of an option, by its name in code. */
import { number } from '../text/format.ts'

const EMPTY: Readonly<Record<string, string>> = { workers: 'automatic', limit: 'no limit' }

export function settingText(option: string, value: unknown): string {
  if (value === null || value === undefined)
    return EMPTY[option] ?? (option.endsWith('.most') ? 'no limit' : 'none')
  if (typeof value === 'number') return number(value)
  if (typeof value === 'boolean') {
    const [yes, no] = option === 'deleted' ? ['yes', 'no'] : ['on', 'off']
    return value ? yes : no
  }
  return typeof value === 'string' ? value : JSON.stringify(value)
}
