/** Routes that list, change and test alert rules. No response contains a secret. */
import { z } from '@hono/zod-openapi'
import { type AlertView, JobmillError } from 'jobmill'
import { type AlertChange, mayDo, type Who } from 'jobmill/internal'
import { quote } from 'jobmill/store'
import { body, json, note, ok, route, type Routes } from '../app.ts'
import { alertChangeShape, alertShape } from '../shapes/alert.ts'

const byName = z.object({ name: z.string() })

export const list = route('viewer', 'alerts.list', 'get /alerts', {
  summary: 'List alert rules with their current problems',
  responses: ok(z.object({ alerts: z.array(alertShape) }), 'The rules'),
})

export const set = route('admin', 'alerts.set', 'put /alerts/{name}', {
  summary: 'Create an alert rule, or change one; omitted options are unchanged',
  request: { params: byName, ...body(alertChangeShape, 'The options') },
  responses: ok(alertShape, 'The rule'),
})

export const test = route('admin', 'alerts.test', 'post /alerts/{name}/test', {
  summary: 'Send a test message to the webhook of an alert rule',
  request: { params: byName },
  responses: { 202: json(z.object({ job: z.string() }), 'The job that sends it') },
})

export const remove = route('admin', 'alerts.delete', 'delete /alerts/{name}', {
  summary: 'Delete an alert rule',
  request: { params: byName },
  responses: { 204: { description: 'Deleted' } },
})

export const routes: Routes = (api, { mill: { alerts } }) => {
  const before = async (name: string): Promise<object | undefined> => {
    const rule = (await alerts.list()).find((one) => one.name === name)
    return rule === undefined ? undefined : settingsOf(rule)
  }

  api.openapi(list, async (c) => {
    const rules = await alerts.list()
    return c.json({ alerts: rules.map((rule) => seen(c.get('who'), rule)) }, 200)
  })
  api.openapi(set, async (c) => {
    const { name } = c.req.valid('param')
    const was = await before(name)
    const given = c.req.valid('json') as AlertChange
    const after = await alerts.set(name, given)
    const newSecret = given.secret !== undefined && { secretChanged: true }
    note(c, { target: name, before: was, after: { ...settingsOf(after), ...newSecret } })
    return c.json(after, 200)
  })
  api.openapi(test, async (c) => {
    const { name } = c.req.valid('param')
    const sent = await alerts.test(name)
    note(c, { target: name, job: sent.job, after: sent })
    return c.json(sent, 202)
  })
  api.openapi(remove, async (c) => {
    const { name } = c.req.valid('param')
    const was = await before(name)
    if (!(await alerts.delete(name)))
      throw new JobmillError('ALERT_UNKNOWN', 'no alert rule has this name', {
        field: 'name',
        value: quote(name),
        fix: 'Use a name from GET /api/alerts',
      })
    note(c, { target: name, before: was })
    return c.body(null, 204)
  })
}

/** Some services put a secret into the path. */
function seen(who: Who | null, rule: AlertView): AlertView {
  if (who !== null && mayDo(who, 'admin')) return rule
  return { ...rule, url: `${new URL(rule.url).origin}/…` }
}

/** For the audit log: omits the problems that the rule found. */
function settingsOf({
  name: _n,
  problems: _p,
  lastSentAt: _l,
  secretHints: _s,
  ...settings
}: AlertView): object {
  return settings
}
