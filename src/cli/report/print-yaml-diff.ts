/**
 * In `git diff` format, or by another program (BACKPORCH_EXTERNAL_DIFF). Everything else goes to
 * stderr.
 */
import { Failure } from '@backporch/kyaml/failure'
import type { Note } from '@backporch/kyaml/note'
import { convertToOneLine } from '@backporch/kyaml/text'
import { computeItemFingerprint } from '../../drift/compare/fingerprint.ts'
import type { TurnResult } from '../../reconcile/turn/run-turn.ts'
import { buildObjectSides, type ObjectSides } from '../../record/object-sides.ts'
import type { DiffFile } from '../context/cli-context.ts'
import type { Terminal } from '../context/terminal.ts'
import { printNotes } from '../print/print-notes.ts'
import { Printer } from '../print/printer.ts'
import { formatObjectName } from '../print/ranked-changes.ts'
import { formatUnifiedDiff } from '../print/unified-diff.ts'
import { listIncompleteOfUnits } from './print-document.ts'

interface NamedSides extends ObjectSides {
  /** `slug` is the folder in the diff's file names. */
  readonly packageName: string
  readonly slug: string
}

export function printYamlDiff(result: TurnResult, printer: Printer): void {
  const { cli, terminal } = printer
  const objects = result.units.flatMap((unit): NamedSides[] => {
    if (unit.state === 'failed') return []
    const { observation, plan } = unit
    const shown = new Set(plan.report.spec.changes.map(({ fingerprint }) => fingerprint))
    const { packageName, slug } = unit.unit
    return observation.verdicts.flatMap((verdict) => {
      const sides = buildObjectSides(
        verdict,
        (drift) => shown.has(computeItemFingerprint(drift, observation.key)),
        observation.key,
      )
      return sides === undefined ? [] : [{ ...sides, packageName, slug }]
    })
  })
  const program = parseExternalDiffProgram(cli.env['BACKPORCH_EXTERNAL_DIFF'])
  if (program !== undefined) {
    if (objects.length > 0) cli.externalDiff(program, buildDiffFiles(objects))
  } else {
    for (const sides of objects)
      cli.stdout.write(formatYamlDiff(sides, terminal, cli.env['GITHUB_ACTIONS'] === 'true'))
  }
  printRest(result, objects, printer)
}

function formatYamlDiff(sides: NamedSides, terminal: Terminal, inActions: boolean): string {
  const name = convertToOneLine(`${sides.packageName} ${formatObjectName(sides.id)}`, 400)
  return formatUnifiedDiff(
    { name: `git/${name}`, text: sides.git },
    { name: `live/${name}`, text: sides.live },
    terminal,
    inActions,
  )
}

/** Like kubectl, a side without the object is an empty file. */
function buildDiffFiles(objects: readonly NamedSides[]): DiffFile[] {
  const taken = new Set<string>()
  return objects.map((sides) => {
    const wanted = formatFileName(sides)
    const name = taken.has(wanted) ? `${taken.size}-${wanted}` : wanted
    taken.add(name)
    return { name, git: sides.git ?? '', live: sides.live ?? '' }
  })
}

/** After the names of `kubectl diff`. */
function formatFileName({ slug, id, apiVersion }: NamedSides): string {
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1)
  const parts = [slug, id.group, version, id.kind, id.namespace, id.name].filter(
    (part) => part !== '',
  )
  return `${parts
    .join('.')
    .replace(/[^\w.-]/g, '_')
    .replace(/^\.+/, '')
    .slice(0, 200)}.yaml`
}

/**
 * No shell. As in kubectl (k8s.io/kubectl, pkg/cmd/diff), arguments are letters, digits, dashes and
 * `=`. kubectl silently drops others; this rejects them.
 */
export function parseExternalDiffProgram(
  text: string | undefined,
): readonly [string, ...string[]] | undefined {
  const [program, ...args] = (text ?? '').split(' ').filter((word) => word !== '')
  if (program === undefined) return undefined
  const wrong = args.find((arg) => !/^[a-zA-Z0-9=-]+$/.test(arg))
  if (wrong === undefined) return [program, ...args]
  throw new Failure({
    code: 'BP1001',
    what: 'BACKPORCH_EXTERNAL_DIFF cannot be used',
    why: `its argument ${wrong} has other characters than letters, digits, "-" and "="`,
    remedy:
      'put the command into a script and name the script; it gets the folders git and live as its last two arguments',
  })
}

function printRest(
  result: TurnResult,
  objects: readonly NamedSides[],
  { cli, options }: Printer,
): void {
  const notes: Note[] = objects.flatMap(({ id, unplaced }) =>
    unplaced.map((path) => ({
      cause: 'not-in-yaml-diff',
      subject: '',
      text: `${formatObjectName(id)} ${path} differs too: diff without --yaml shows it`,
    })),
  )
  for (const { package: path, ref, state, code, why } of listIncompleteOfUnits(
    result.units.filter((unit) => unit.state === 'planned'),
  )) {
    const text = `${ref === undefined ? path || '.' : formatObjectName(ref)} ${state ?? 'not observed'} (${code}): ${why}`
    notes.push({ cause: 'not-observed', subject: '', text })
  }
  // Even with --quiet.
  printNotes(notes, new Printer(cli, { ...options, quiet: undefined }))
}
