/** Creates a repository of packages with a long history by `git fast-import`. The same seed gives the same bytes. */
import { spawn } from 'node:child_process'
import { createCipheriv, createHash } from 'node:crypto'
import { once } from 'node:events'

export interface HistoryOptions {
  /** Each commit replaces an incompressible image of 1 MiB and edits a package. */
  readonly commits: number
  readonly packages: number
  readonly seed: number
}

export const IMAGE_BYTES = 1024 * 1024
/** Images in the newest commit. */
const IMAGES = 8
/** Published revisions of each package. */
const REVISIONS = 4
/** Open drafts, each one commit on top of the base branch. */
const DRAFTS = 20

export const PACKAGE = (at: number): string => `apps/app-${String(at).padStart(3, '0')}`

/** The content of each package in the newest commit. */
export function packageFiles(at: number, revision: number): Readonly<Record<string, string>> {
  const name = `app-${String(at).padStart(3, '0')}`
  const config = (which: number): string =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}-${which}\n  namespace: bench\ndata:\n  revision: "${revision}"\n  which: "${which}"\n`
  return {
    Kptfile: `apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: ${name}\n`,
    ...Object.fromEntries([0, 1, 2].map((which) => [`config-${which}.yaml`, config(which)])),
  }
}

/** Fills an empty bare repository. */
export async function writeHistory(
  folder: string,
  { commits, packages, seed }: HistoryOptions,
): Promise<void> {
  const args = [
    '-c',
    'core.compression=0',
    '-c',
    'pack.compression=0',
    'fast-import',
    '--quiet',
    '--depth=0',
  ]
  const child = spawn('git', args, { cwd: folder, stdio: ['pipe', 'inherit', 'inherit'] })
  const ended = once(child, 'close')
  const write = async (...parts: readonly (string | Buffer)[]): Promise<void> => {
    for (const part of parts) if (!child.stdin.write(part)) await once(child.stdin, 'drain')
  }
  const file = (path: string, content: string | Buffer): readonly (string | Buffer)[] => [
    `M 100644 inline ${path}\ndata ${Buffer.byteLength(content)}\n`,
    content,
    '\n',
  ]
  const head = (ref: string, at: number, from?: string): string =>
    `commit ${ref}\nmark :${at + 1}\ncommitter Bench <bench@example.com> ${1_700_000_000 + at * 600} +0000\ndata 8\nA commit\n${from ?? ''}`
  for (let at = 0; at < commits; at += 1) {
    await write(head('refs/heads/main', at))
    if (at === 0)
      for (let each = 0; each < packages; each += 1)
        for (const [name, text] of Object.entries(packageFiles(each, 0)))
          await write(...file(`${PACKAGE(each)}/${name}`, text))
    await write(...file(`images/${at % IMAGES}.bin`, noise(`${seed}:${at}`)))
    if (at > 0)
      await write(
        ...file(
          `${PACKAGE(at % packages)}/config-0.yaml`,
          packageFiles(at % packages, at)['config-0.yaml'] ?? '',
        ),
      )
  }
  for (let each = 0; each < packages; each += 1)
    for (let revision = 1; revision <= REVISIONS; revision += 1) {
      const at = Math.max(1, Math.floor((commits * revision) / REVISIONS) - each)
      await write(`reset refs/tags/${PACKAGE(each)}/v${revision}\nfrom :${at}\n\n`)
    }
  for (let each = 0; each < Math.min(DRAFTS, packages); each += 1) {
    const from = `from :${Math.max(1, commits - each)}\n`
    await write(
      head(`refs/heads/drafts/${PACKAGE(each)}/drift-${each}`, commits + each, from),
      ...file(`${PACKAGE(each)}/note.yaml`, `# ${each}\n`),
    )
  }
  child.stdin.end()
  const [code] = await ended
  if (code !== 0) throw new Error(`git fast-import ended with ${code}`)
}

/** The revision of a package's first file in the newest commit. */
export function newestRevision(at: number, { commits, packages }: HistoryOptions): number {
  const last = commits - 1 - ((((commits - 1 - at) % packages) + packages) % packages)
  return Math.max(0, last)
}

function noise(text: string): Buffer {
  const key = createHash('sha256').update(text).digest()
  return createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(IMAGE_BYTES))
}
