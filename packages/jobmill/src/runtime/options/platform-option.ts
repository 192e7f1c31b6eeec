/** The option `platform`: clocks and timers, for tests. */
import { JobmillError, quote } from '../../job/errors.ts'
import { type Platform, systemPlatform } from '../../platform/platform.ts'

export function checkPlatform(platform: unknown = systemPlatform): Platform {
  const isComplete =
    typeof platform === 'object' &&
    platform !== null &&
    Object.keys(systemPlatform).every((name) => typeof platform[name as never] === 'function')
  if (isComplete) return platform as Platform
  throw new JobmillError('OPTION_INVALID', 'must be a platform', {
    field: 'platform',
    value: quote(platform),
    fix: 'Pass testPlatform() of jobmill/testing, or omit it',
  })
}
