import { fileOf } from '@backporch/kpt/function'
import { oneLine } from '@backporch/kyaml/text'
import { keyOf, nodeAt, resolved, textAt, type YamlMap } from '@backporch/kyaml/yaml'
import type { Change } from '../../record/documents/change.ts'
import type { DriftRecord } from '../../record/documents/drift-record.ts'
import type { DriftReport } from '../../record/documents/drift-report.ts'
import { readDrift, type TreeReading } from '../../record/read-tree.ts'

export type Risk = Change['risk']

/** Most severe first. */
export const RISKS: readonly Risk[] = ['critical', 'high', 'medium', 'low']

export interface Gate {
  readonly minimumRisk: Risk
  readonly unknown: 'pass' | 'fail'
  readonly drift: DriftReport | DriftRecord | undefined
}

export function readGate(
  config: YamlMap | undefined,
  items: readonly YamlMap[],
): Gate | readonly string[] {
  const given = readDrift(config)
  if (given !== undefined)
    return withDrift({ minimumRisk: 'low', unknown: 'pass' }, given, 'functionConfig')
  if (config !== undefined && textAt(config, 'kind') !== 'ConfigMap')
    return [
      'functionConfig is neither a ConfigMap nor a DriftReport or DriftRecord of backporch.dev/v1alpha1',
    ]
  const unknownKeys = keysOf(config).filter((key) => !KEYS.has(key))
  if (unknownKeys.length > 0)
    return unknownKeys.map(
      (key) => `unknown key ${JSON.stringify(key)}: wanted minimumRisk, unknown or report`,
    )
  const text = (key: string): string => textAt(config, 'data', key) ?? ''
  const minimumRisk = RISKS.find((risk) => risk === (text('minimumRisk') || 'low'))
  if (minimumRisk === undefined)
    return [`minimumRisk is ${quoted(text('minimumRisk'))}: wanted low, medium, high or critical`]
  const unknown = (['pass', 'fail'] as const).find(
    (choice) => choice === (text('unknown') || 'pass'),
  )
  if (unknown === undefined) return [`unknown is ${quoted(text('unknown'))}: wanted pass or fail`]
  const path = text('report')
  if (path === '') return { minimumRisk, unknown, drift: undefined }
  const item = items.find((each) => fileOf(each).path === path && readDrift(each) !== undefined)
  const read = readDrift(item)
  if (read === undefined)
    return [`report is ${quoted(path)}: no DriftReport or DriftRecord is there among the resources`]
  return withDrift({ minimumRisk, unknown }, read, path)
}

const KEYS = new Set(['minimumRisk', 'unknown', 'report'])

function keysOf(config: YamlMap | undefined): readonly string[] {
  const data = nodeAt(config, 'data')
  const map = data === undefined ? undefined : resolved(data)
  return map?.kind === 'map' ? map.entries.map(({ key }) => oneLine(keyOf(key), 80)) : []
}

function withDrift(
  gate: Omit<Gate, 'drift'>,
  read: TreeReading<DriftReport | DriftRecord>,
  where: string,
): Gate | readonly string[] {
  if ('value' in read) return { ...gate, drift: read.value }
  return read.problems.map(
    ({ path, message }) => `${oneLine(where)}${path === '' ? '' : ` ${path}`}: ${message}`,
  )
}

function quoted(text: string): string {
  return JSON.stringify(oneLine(text, 80))
}
