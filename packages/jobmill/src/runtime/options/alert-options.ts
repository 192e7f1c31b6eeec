/** The option `alerts`: checks each rule and reports all problems together. */
import { ALERT_KEYS, type AlertOptions, newAlert } from '../../job/alert/alert-options.ts'
import { BOUNDS } from '../../job/defaults.ts'
import { checkName } from '../../job/names.ts'
import type { DeclaredAlert } from '../alerts/alerts.ts'
import type { Problems } from './problems.ts'

export function declaredAlerts(
  alerts: Readonly<Record<string, AlertOptions>>,
  found: Problems,
): DeclaredAlert[] {
  if (!found.names(alerts, 'alerts', "{ ops: { url: 'https://…', secret: 'whsec_…' } }")) return []
  const rules = Object.entries(alerts)
  if (rules.length > BOUNDS.alerts) {
    const what = `has ${rules.length} rules, more than ${BOUNDS.alerts}. Name several checks in one rule`
    found.add('error', 'OPTION_INVALID', 'alerts', what)
    return []
  }
  return rules.flatMap(([name, options]) => {
    const at = `alerts.${name}`
    if (!found.keys(options, at, ALERT_KEYS)) return []
    const known = Object.fromEntries(
      Object.entries(options).filter(([key]) => (ALERT_KEYS as readonly string[]).includes(key)),
    )
    return found.try(at, [], () => [
      { name: checkName(name, at), rule: newAlert(known as unknown as AlertOptions, at, true) },
    ])
  })
}
