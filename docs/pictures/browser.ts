/** Pictures of pages by the headless Chromium of this machine, over its DevTools protocol. Nothing is downloaded. */
import { type ChildProcess, spawn } from 'node:child_process'
import { access, constants, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

/** In device-independent pixels, from the corner of the page. */
export interface Clip {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export interface Browser {
  /** Opens the page and waits until everything of it is there. */
  open(url: string): Promise<void>
  /** The value of an expression in the page; it has to be JSON. */
  evaluate<Value>(expression: string): Promise<Value>
  /** PNG. */
  capture(clip: Clip): Promise<Buffer>
  stop(): Promise<void>
}

const NAMES = ['chromium', 'chromium-browser', 'google-chrome']
const PATIENCE = 30_000

/** Path of a Chromium on the PATH; undefined where there is none. */
export async function findChromium(environment: NodeJS.ProcessEnv): Promise<string | undefined> {
  for (const folder of (environment['PATH'] ?? '').split(delimiter)) {
    for (const name of NAMES) {
      const program = join(folder, name)
      if (
        await access(program, constants.X_OK)
          .then(() => true)
          .catch(() => false)
      )
        return program
    }
  }
  return undefined
}

/** @param width of the window; the height of a picture is that of its clip */
export async function startBrowser(program: string, width: number): Promise<Browser> {
  const profile = await mkdtemp(join(tmpdir(), 'backporch-chromium-'))
  const flags = [
    '--headless=new',
    '--remote-debugging-port=0',
    `--user-data-dir=${profile}`,
    '--hide-scrollbars',
    '--disable-gpu',
  ]
  // Chromium refuses to put root into its sandbox; the only pages that it sees are those of the Gitea that was started here.
  const root = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  const child = spawn(program, [...flags, ...root, `--window-size=${width},1200`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  try {
    const address = new URL(await announced(child))
    const pages = (await (await fetch(`http://${address.host}/json/list`)).json()) as {
      type: string
      webSocketDebuggerUrl: string
    }[]
    const page = pages.find(({ type }) => type === 'page')
    if (page === undefined) throw new Error('Chromium has no page')
    const client = await connect(page.webSocketDebuggerUrl)
    await client.send('Page.enable', {})
    await client.send('Emulation.setDeviceMetricsOverride', {
      width,
      height: 1200,
      deviceScaleFactor: 1,
      mobile: false,
    })
    return {
      open: async (url) => {
        const loaded = client.once('Page.loadEventFired')
        await client.send('Page.navigate', { url })
        await loaded
        // Scripts that run after the load, and fonts.
        await client.send('Runtime.evaluate', {
          expression: 'document.fonts.ready.then(() => new Promise((r) => setTimeout(r, 800)))',
          awaitPromise: true,
        })
      },
      evaluate: async <Value>(expression: string) => {
        const { result, exceptionDetails } = await client.send<{
          result: { value: Value }
          exceptionDetails?: { text: string }
        }>('Runtime.evaluate', { expression, returnByValue: true })
        if (exceptionDetails !== undefined)
          throw new Error(`${expression}: ${exceptionDetails.text}`)
        return result.value
      },
      capture: async (clip) => {
        const wanted = { format: 'png', captureBeyondViewport: true, clip: { ...clip, scale: 1 } }
        return Buffer.from(
          (await client.send<{ data: string }>('Page.captureScreenshot', wanted)).data,
          'base64',
        )
      },
      stop: async () => {
        client.close()
        await ended(child, profile)
      },
    }
  } catch (thrown) {
    await ended(child, profile)
    throw thrown
  }
}

/** The address of the protocol, which Chromium prints when it listens. */
function announced(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let printed = ''
    const late = setTimeout(
      () => reject(new Error(`Chromium does not listen:\n${printed}`)),
      PATIENCE,
    )
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      printed += text
      const [, url] = /DevTools listening on (ws:\S+)/.exec(printed) ?? []
      if (url === undefined) return
      clearTimeout(late)
      resolve(url)
    })
    child.on('error', reject)
    child.on('close', (code) => reject(new Error(`Chromium ended with ${code}:\n${printed}`)))
  })
}

async function ended(child: ChildProcess, profile: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const closed = new Promise((resolve) => child.once('close', resolve))
    child.kill('SIGTERM')
    await closed
  }
  await rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
}

interface Client {
  send<Answer>(method: string, params: object): Promise<Answer>
  once(event: string): Promise<void>
  close(): void
}

interface Message {
  readonly id?: number
  readonly method?: string
  readonly result?: unknown
  readonly error?: { readonly message: string }
}

async function connect(url: string): Promise<Client> {
  const socket = new WebSocket(url)
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true })
    socket.addEventListener('error', () => reject(new Error('Chromium refuses the connection')), {
      once: true,
    })
  })
  const waiting = new Map<
    number,
    { resolve: (value: never) => void; reject: (error: Error) => void }
  >()
  const events = new Map<string, () => void>()
  let last = 0
  socket.addEventListener('message', ({ data }) => {
    const { id, method, result, error } = JSON.parse(String(data)) as Message
    if (method !== undefined) events.get(method)?.()
    const requested = id === undefined ? undefined : waiting.get(id)
    if (requested === undefined) return
    waiting.delete(id ?? 0)
    if (error === undefined) requested.resolve(result as never)
    else requested.reject(new Error(error.message))
  })
  return {
    send: (method, params) =>
      new Promise((resolve, reject) => {
        last += 1
        waiting.set(last, { resolve, reject })
        socket.send(JSON.stringify({ id: last, method, params }))
      }),
    once: (event) =>
      new Promise((resolve, reject) => {
        const late = setTimeout(() => reject(new Error(`no ${event} in ${PATIENCE} ms`)), PATIENCE)
        events.set(event, () => {
          clearTimeout(late)
          events.delete(event)
          resolve()
        })
      }),
    close: () => socket.close(),
  }
}
