/** Writes the JSON Schemas of every document that Backporch reads or writes, from the one zod definition of each. */
import { writeFileSync } from 'node:fs'
import { z } from 'zod'
import { controllerConfigSchema } from '../../src/cli/context/controller-config.ts'
import { driftPolicySchema, placementSchema } from '../../src/policy/schema.ts'
import { closedEpisodeSchema } from '../../src/record/documents/closed-episode.ts'
import { clusterObservationSchema } from '../../src/record/documents/cluster-observation.ts'
import { driftRecordSchema } from '../../src/record/documents/drift-record.ts'
import { driftReportSchema } from '../../src/record/documents/drift-report.ts'
import { driftReportListSchema } from '../../src/record/documents/drift-report-list.ts'
import { previewSchema } from '../../src/record/documents/preview.ts'
import { pushedBranchSchema } from '../../src/record/pushed-branch.ts'

export const SCHEMAS = {
  'drift-report': driftReportSchema,
  'drift-report-list': driftReportListSchema,
  'drift-record': driftRecordSchema,
  'closed-episode': closedEpisodeSchema,
  'cluster-observation': clusterObservationSchema,
  'pushed-branch': pushedBranchSchema,
  preview: previewSchema,
  'drift-policy': driftPolicySchema,
  placement: placementSchema,
  'controller-config': controllerConfigSchema,
} as const

/** The text of one schema file. */
export function schemaText(name: keyof typeof SCHEMAS): string {
  const schema = z.toJSONSchema(SCHEMAS[name], {
    target: 'draft-2020-12',
    io: 'input',
    unrepresentable: 'any',
  })
  return `${JSON.stringify({ $id: `https://backporch.dev/schema/${name}.json`, title: name, ...schema }, null, 2)}\n`
}

if (import.meta.main) {
  for (const name of Object.keys(SCHEMAS) as (keyof typeof SCHEMAS)[])
    writeFileSync(new URL(`${name}.json`, import.meta.url), schemaText(name))
}
