/**
 * Serves the files of Mission Control from its package. They contain no data; access/identity.ts decides who
 * may load them. Files are read once, and sent compressed to clients that accept it.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, extname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { framingHeaders } from './server/framing.ts'

/** Answers requests for the dashboard; returns null for any other. */
export type Page = (request: Request) => Response | null

type File = ReturnType<typeof fileOf>

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** The routes of the dashboard, which its own router handles. */
const PLACES =
  /^\/(?:(?:errors|queues|workers|limits|system)?|(?:jobs|schedules|kinds)(?:\/[^/]+)?|apps\/[^/]+(?:\/[^/]+)?)$/

/** Paths that never fall back to the dashboard, even if nothing exists there. */
const OURS = /^\/(?:api|assets|metrics|healthz|readyz)(?:\/|$)/

const isForPeople = (request: Request): boolean =>
  request.headers.get('accept')?.includes('text/html') === true

const HEADERS = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/** Null if the package of the dashboard is not installed. `basePath` is the path prefix of its URLs. */
export function missionControl(basePath: string, frameAncestors: readonly string[]): Page | null {
  const files = dashboardFiles()
  const index = files.get('/index.html')
  if (index === undefined) return null
  const home = fileOf('index.html', withBase(index.whole, basePath))
  const headers = { ...HEADERS, ...framingHeaders(frameAncestors) }
  return (request) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return null
    const { pathname } = new URL(request.url)
    if (PLACES.test(pathname)) return answer(home, request)
    const file = pathname === '/index.html' ? undefined : files.get(pathname)
    if (file !== undefined) return answer(file, request)
    // For an unknown path, the dashboard shows its own "not found" page.
    return isForPeople(request) && !OURS.test(pathname) ? answer(home, request, 404) : null
  }

  function answer({ type, whole, packed, isForever }: File, request: Request, status = 200): Response {
    const takesPacked = /\bgzip\b/.test(request.headers.get('accept-encoding') ?? '')
    const body = takesPacked ? packed() : whole
    return new Response(request.method === 'HEAD' ? null : streamOf(body), {
      status,
      headers: {
        ...headers,
        'content-type': type,
        'content-length': String(body.length),
        'cache-control': isForever ? 'public, max-age=31536000, immutable' : 'no-cache',
        vary: 'accept-encoding',
        ...(takesPacked && { 'content-encoding': 'gzip' }),
      },
    })
  }
}

/** Empty if the package of the dashboard is not installed, or is not built. */
function dashboardFiles(): Map<string, File> {
  try {
    const manifest = createRequire(import.meta.url).resolve('jobmill-dashboard/package.json')
    const folder = join(dirname(manifest), 'dist')
    const found = readdirSync(folder, { recursive: true, withFileTypes: true })
    return new Map(
      found
        .filter((entry) => entry.isFile() && extname(entry.name) in TYPES)
        .map((entry) => {
          const path = join(entry.parentPath, entry.name)
          const name = path.slice(folder.length).replaceAll('\\', '/')
          return [name, fileOf(name, new Uint8Array(readFileSync(path)))]
        }),
    )
  } catch {
    return new Map()
  }
}

/** Compresses on the first request: most processes with an API never serve the dashboard. */
function fileOf(name: string, whole: Uint8Array<ArrayBuffer>) {
  let packed: Uint8Array<ArrayBuffer> | undefined
  return {
    type: TYPES[extname(name)] ?? 'application/octet-stream',
    whole,
    packed: () => (packed ??= new Uint8Array(gzipSync(whole))),
    /** Whether the file name contains a hash of the content, so that it can be cached forever. */
    isForever: name.startsWith('/assets/'),
  }
}

/** Sets the base URL in the HTML, which the dashboard uses for its own routes and for the API. */
function withBase(html: Uint8Array, basePath: string): Uint8Array<ArrayBuffer> {
  const text = new TextDecoder().decode(html)
  const path = `${basePath}/`.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
  return new TextEncoder().encode(text.replace('<base href="/" />', () => `<base href="${path}" />`))
}

/** A Response copies a buffer for each request, while a stream shares it. */
function streamOf(bytes: Uint8Array<ArrayBuffer>): ReadableStream {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(bytes)
      controller.close()
    },
  })
}
