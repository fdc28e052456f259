/**
 * `diff --yaml`: one unified diff per differing object, from git to live, as `git diff` prints it; or what a program of the
 * user's makes of the same texts (BACKPORCH_EXTERNAL_DIFF). Whatever is no part of the diff goes to stderr.
 */
import { formatPatch, OMIT_HEADERS, structuredPatch } from 'diff'
import { itemFingerprint } from '../drift/fingerprint.ts'
import { Failure } from '../failure.ts'
import type { TurnResult } from '../reconcile/run-turn.ts'
import { type ObjectSides, objectSides } from '../record/object-sides.ts'
import { oneLine } from '../record/one-line.ts'
import type { CommonOptions } from './options.ts'
import { incompleteOf } from './print-document.ts'
import { objectName } from './ranked-changes.ts'
import { type Style, Terminal } from './terminal.ts'
import type { DiffFile, World } from './world.ts'

interface NamedSides extends ObjectSides {
  /** As people name it; the folder of the object in the diff's file names. */
  readonly packageName: string
  readonly slug: string
}

/** Edits after which two texts are told as one removed and one added. */
const MOST_EDITS = 4_000

export function printYamlDiff(result: TurnResult, options: CommonOptions, world: World): void {
  const objects = result.units.flatMap((unit): NamedSides[] => {
    if (unit.state === 'failed') return []
    const { observation, plan } = unit
    const shown = new Set(plan.report.spec.changes.map(({ fingerprint }) => fingerprint))
    const { packageName, slug } = unit.unit
    return observation.verdicts.flatMap((verdict) => {
      const sides = objectSides(verdict, (drift) => shown.has(itemFingerprint(drift, observation.key)), observation.key)
      return sides === undefined ? [] : [{ ...sides, packageName, slug }]
    })
  })
  const program = externalDiffProgram(world.env['BACKPORCH_EXTERNAL_DIFF'])
  if (program !== undefined) {
    if (objects.length > 0) world.externalDiff(program, filesOf(objects))
  } else {
    const terminal = new Terminal(world.stdout, { color: options.color, ascii: options.ascii === true, env: world.env })
    for (const sides of objects) world.stdout.write(formatYamlDiff(sides, terminal, world.env['GITHUB_ACTIONS'] === 'true'))
  }
  tellRest(result, objects, world)
}

/** `inActions`: the runner takes a line that begins with `::` for a command, and looks for `##[` in all of them. */
function formatYamlDiff(sides: NamedSides, terminal: Terminal, inActions: boolean): string {
  const name = oneLine(`${sides.packageName} ${objectName(sides.id)}`, 400)
  const git = sides.git === undefined ? '/dev/null' : `git/${name}`
  const live = sides.live === undefined ? '/dev/null' : `live/${name}`
  const patch = structuredPatch(git, live, sides.git ?? '', sides.live ?? '', undefined, undefined, {
    context: 3,
    maxEditLength: MOST_EDITS,
  })
  const lines = patch === undefined ? wholly(sides) : formatPatch(patch, OMIT_HEADERS).replace(/\n$/, '').split('\n')
  const limit = terminal.isTTY ? 2_000 : Number.POSITIVE_INFINITY
  const shown = lines.map((line) => {
    const text = oneLine(line, limit)
    return terminal.style(inActions ? withoutCommands(text) : text, ...styleOf(line))
  })
  return [terminal.style(`--- ${git}`, 'bold'), terminal.style(`+++ ${live}`, 'bold'), ...shown].map((line) => `${line}\n`).join('')
}

function wholly({ git = '', live = '' }: ObjectSides): string[] {
  const removed = git.split('\n').slice(0, -1)
  const added = live.split('\n').slice(0, -1)
  return [`@@ -1,${removed.length} +1,${added.length} @@`, ...removed.map((line) => `-${line}`), ...added.map((line) => `+${line}`)]
}

function styleOf(line: string): Style[] {
  return line.startsWith('@@') ? ['cyan'] : line.startsWith('-') ? ['red'] : line.startsWith('+') ? ['green'] : []
}

function withoutCommands(line: string): string {
  return line.replace(/^(\s*):(?=:)/, '$1\\u{3a}').replaceAll('##[', '#\\u{23}[')
}

/** As kubectl does it, a side without the object is an empty file. */
function filesOf(objects: readonly NamedSides[]): DiffFile[] {
  const taken = new Set<string>()
  return objects.map((sides) => {
    const wanted = fileName(sides)
    const name = taken.has(wanted) ? `${taken.size}-${wanted}` : wanted
    taken.add(name)
    return { name, git: sides.git ?? '', live: sides.live ?? '' }
  })
}

/** `apps--web.apps.v1.Deployment.shop.web.yaml`, after the names of `kubectl diff`. */
function fileName({ slug, id, apiVersion }: NamedSides): string {
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1)
  const parts = [slug, id.group, version, id.kind, id.namespace, id.name].filter((part) => part !== '')
  return `${parts
    .join('.')
    .replace(/[^\w.-]/g, '_')
    .replace(/^\.+/, '')
    .slice(0, 200)}.yaml`
}

/**
 * The program and its arguments, split at spaces; no shell sees them. Arguments are letters, digits, dashes and `=`, as
 * kubectl takes them (k8s.io/kubectl, pkg/cmd/diff); kubectl drops others without a word, here they are refused.
 */
export function externalDiffProgram(text: string | undefined): readonly [string, ...string[]] | undefined {
  const [program, ...args] = (text ?? '').split(' ').filter((word) => word !== '')
  if (program === undefined) return undefined
  const wrong = args.find((arg) => !/^[a-zA-Z0-9=-]+$/.test(arg))
  if (wrong === undefined) return [program, ...args]
  throw new Failure({
    code: 'BP1001',
    what: 'BACKPORCH_EXTERNAL_DIFF cannot be used',
    why: `its argument ${wrong} has other characters than letters, digits, "-" and "="`,
    remedy: 'put the command into a script and name the script; it gets the folders git and live as its last two arguments',
  })
}

function tellRest(result: TurnResult, objects: readonly NamedSides[], world: World): void {
  const tell = (text: string): void => {
    world.stderr.write(`note: ${oneLine(text, 2_000)}\n`)
  }
  for (const { id, unplaced } of objects)
    for (const path of unplaced) tell(`${objectName(id)} ${path} differs too: diff without --yaml shows it`)
  for (const { package: path, ref, state, code, why } of incompleteOf(result.units.filter((unit) => unit.state === 'planned'))) {
    tell(`${ref === undefined ? path || '.' : objectName(ref)} ${state ?? 'not observed'} (${code}): ${why}`)
  }
}
