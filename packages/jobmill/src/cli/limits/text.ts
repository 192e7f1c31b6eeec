/** Formats limits as text. */
import type { LimitSettings } from '../../job/limit/limit.ts'
import { optionText } from '../output/wording.ts'

/** Formats a limit as command-line options: `--rate 50 --per 1m --burst 10`. */
export function limitText(settings: LimitSettings): string {
  if (settings.type === 'concurrency') return `--concurrency ${settings.most}`
  const rate = `--rate ${settings.amount} --per ${optionText(settings.perMs)} --burst ${settings.burst}`
  return settings.perKey === true ? `${rate} --per-key` : rate
}
