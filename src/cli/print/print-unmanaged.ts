import { describeResourceId } from '@backporch/kyaml/resource'
import { oneLine } from '@backporch/kyaml/text'
import {
  notLookedInto,
  type UnmanagedObject,
  type UnmanagedObjects,
} from '../../reconcile/observe/read-unmanaged.ts'
import { refOf } from '../../record/build-report.ts'
import type { DriftReportList } from '../../record/documents/drift-report-list.ts'
import type { Terminal } from '../context/terminal.ts'
import { timeOf } from './time-text.ts'

export function unmanagedPart(
  found: readonly UnmanagedObjects[],
): NonNullable<DriftReportList['unmanaged']> {
  return found.map((one) => ({
    cluster: one.cluster,
    namespaces: [...one.namespaces],
    objects: one.objects.map(({ id, apiVersion, creator, createdAt }) => ({
      apiVersion,
      ref: refOf(id),
      ...(creator.confidence === 'none' ? {} : { manager: creator.manager }),
      ...(createdAt === '' ? {} : { createdAt }),
    })),
    unread: [...notLookedInto(one)],
  }))
}

/** Empty without `--unmanaged`. `now`: milliseconds since 1970. */
export function formatUnmanaged(
  found: readonly UnmanagedObjects[],
  now: number,
  terminal: Terminal,
): string {
  return found.map((one) => formatCluster(one, now, terminal)).join('')
}

function formatCluster(found: UnmanagedObjects, now: number, terminal: Terminal): string {
  const { cluster, namespaces, objects } = found
  const where = `${namespaces.length === 1 ? 'namespace' : 'namespaces'} ${oneLine(namespaces.join(', '), 200)} of ${oneLine(cluster)}`
  const lines = [
    namespaces.length === 0
      ? `no package of ${oneLine(cluster)} has a namespace to look into`
      : objects.length === 0
        ? `nothing without a manager was found in ${where}`
        : terminal.style(
            `${objects.length} managed by nobody in ${where} (no drift, and not recorded):`,
            'bold',
          ),
    ...objects.map((object) => `  ${objectLine(object, now, terminal)}`),
    ...notLookedInto(found).map(
      (why) =>
        `${terminal.style(terminal.glyph('unknown'), 'yellow')} not looked into: ${oneLine(why, 300)}`,
    ),
  ]
  return `${lines.join('\n')}\n`
}

function objectLine(
  { id, creator, createdAt }: UnmanagedObject,
  now: number,
  terminal: Terminal,
): string {
  const group = id.group === '' ? '' : ` (${oneLine(id.group, 100)})`
  const by =
    creator.confidence === 'none' ? 'by an unknown writer' : `by ${oneLine(creator.manager, 40)}`
  return `${oneLine(describeResourceId(id), 200)}${group}  ${terminal.style(`${by}, ${timeOf(createdAt, { now }, terminal)}`, 'dim')}`
}
