/** Checks settings that are valid alone but conflict with each other. */
import { LIMITS } from '../inbox/limits.ts'
import type { ConfigProblem, ReadConfig } from './shape.ts'
import { sizeText } from './sizes.ts'

export function conflictsIn({ config, placeOf }: ReadConfig): ConfigProblem[] {
  const { maxFileBytes = 0, maxRequestBytes = LIMITS.maxRequestBytes } = config
  if (maxFileBytes <= maxRequestBytes) return []
  return [
    {
      place: placeOf('maxFileBytes') ?? 'maxFileBytes',
      message: `must not exceed maxRequestBytes (${sizeText(maxRequestBytes)}). Lower it, or raise maxRequestBytes`,
    },
  ]
}
