/** The value of a setting as people read it, by the name of its field. */
import { number, span } from './format.ts'

const EMPTY: Readonly<Record<string, string>> = { workers: 'automatic', limit: 'no limit' }

export function settingText(field: string, value: unknown): string {
  if (value === null || value === undefined)
    return (
      EMPTY[field] ??
      (field.startsWith('retain') ? 'forever' : field.startsWith('keep') ? 'any number' : 'nothing')
    )
  if (typeof value === 'number') return field.endsWith('Ms') ? span(value) : number(value)
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
