import { describeResourceId } from '@backporch/kyaml/resource'
import { convertToOneLine } from '@backporch/kyaml/text'
import {
  listNotLookedInto,
  type UnmanagedObject,
  type UnmanagedObjects,
} from '../../reconcile/observe/read-unmanaged.ts'
import { getChangeRef } from '../../record/build-report.ts'
import type { DriftReportList } from '../../record/documents/drift-report-list.ts'
import type { Terminal } from '../context/terminal.ts'
import { formatTimeText } from './time-text.ts'

export function buildUnmanagedPart(
  found: readonly UnmanagedObjects[],
): NonNullable<DriftReportList['unmanaged']> {
  return found.map((one) => ({
    cluster: one.cluster,
    namespaces: [...one.namespaces],
    objects: one.objects.map(({ id, apiVersion, creator, createdAt }) => ({
      apiVersion,
      ref: getChangeRef(id),
      ...(creator.confidence === 'none' ? {} : { manager: creator.manager }),
      ...(createdAt === undefined ? {} : { createdAt }),
    })),
    unread: [...listNotLookedInto(one)],
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
  const where = `${namespaces.length === 1 ? 'namespace' : 'namespaces'} ${convertToOneLine(namespaces.join(', '), 200)} of ${convertToOneLine(cluster)}`
  const lines = [
    namespaces.length === 0
      ? `no package of ${convertToOneLine(cluster)} has a namespace to search`
      : objects.length === 0
        ? `no unmanaged objects in ${where}`
        : terminal.style(
            `${objects.length} unmanaged in ${where} (no drift, and not recorded):`,
            'bold',
          ),
    ...objects.map((object) => `  ${formatObjectLine(object, now, terminal)}`),
    ...listNotLookedInto(found).map(
      (why) =>
        `${terminal.style(terminal.getGlyph('unknown'), 'yellow')} not searched: ${convertToOneLine(why, 300)}`,
    ),
  ]
  return `${lines.join('\n')}\n`
}

function formatObjectLine(
  { id, creator, createdAt }: UnmanagedObject,
  now: number,
  terminal: Terminal,
): string {
  const group = id.group === '' ? '' : ` (${convertToOneLine(id.group, 100)})`
  const by =
    creator.confidence === 'none'
      ? 'by an unknown writer'
      : `by ${convertToOneLine(creator.manager, 40)}`
  return `${convertToOneLine(describeResourceId(id), 200)}${group}  ${terminal.style(`${by}, ${formatTimeText(createdAt, { now }, terminal)}`, 'dim')}`
}
