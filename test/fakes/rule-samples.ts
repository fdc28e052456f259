/** Ignore rules for tests, as a policy has them. */
import type { IgnoreRule } from '../../src/drift/noise/ignore-rules.ts'
import { createIgnoreRule, type IgnoreEntry, ignoreSchema } from '../../src/policy/ignore-schema.ts'

/** Where there is no reason, one is given. */
export function ruleOf(entry: Partial<IgnoreEntry>, where = 'p:1'): IgnoreRule {
  return createIgnoreRule(ignoreSchema.parse({ reason: 'r', ...entry }), {
    where,
    level: 'policy',
    policy: { name: 'test', priority: 0 },
  })
}
