/** Values that can each be used, and not together. */
import { LIMITS } from '../inbox/limits.ts'
import type { ConfigProblem, ReadConfig } from './read-config.ts'
import { sizeText } from './sizes.ts'

export function conflictsIn({ config, placeOf }: ReadConfig): ConfigProblem[] {
  const { maxFileBytes = 0, maxRequestBytes = LIMITS.maxRequestBytes } = config
  if (maxFileBytes <= maxRequestBytes) return []
  return [
    {
      place: placeOf('maxFileBytes') ?? 'maxFileBytes',
      message: `no request could bring such a file: maxRequestBytes is ${sizeText(maxRequestBytes)}. Give at most that, or raise maxRequestBytes`,
    },
  ]
}
