/** Pull requests that enrol a repository, made up: as `samples.ts` has proposals. */
import { GITHUB_SETUP } from '@backporch/forge/github'
import type { OnboardingSubject } from '../../../src/proposal/text/onboarding-text.ts'
import { GITHUB } from '../../fakes/dialects.ts'
import { changeOf } from '../../fakes/record-samples.ts'
import { FLUX, HOSTILE, NOBODY } from './samples.ts'

/** Of the pull request that enrols a repository. */
export const ONBOARDING: OnboardingSubject = {
  dialect: GITHUB,
  version: '0.4.1',
  baseBranch: 'main',
  clusters: ['prod-eu-1'],
  packages: 41,
  elsewhere: 3,
  sources: [],
  syncers: [
    { name: FLUX.name, sentence: FLUX.phrases.sentence, units: 38 },
    { name: NOBODY.name, sentence: NOBODY.phrases.sentence, units: 3 },
  ],
  autoscalers: [
    { word: 'HPA', count: 6 },
    { word: 'VPA', count: 1 },
  ],
  imported: 14,
  notImported: [
    {
      source: 'Argo CD Application argocd/shop',
      rule: 'MutatingWebhookConfiguration .webhooks[]?.clientConfig.caBundle',
      why: 'it covers every item of a list, which a rule here cannot',
    },
  ],
  notObserved: [],
  expected: {
    proposals: [
      { packageName: 'apps/checkout', cluster: 'prod-eu-1', changes: [changeOf()], mode: 'Warn' },
      { packageName: 'apps/web', cluster: 'prod-eu-1', changes: [changeOf({ risk: 'high', reason: 'APP-IMAGE' }), changeOf()], mode: 'Warn' },
      { packageName: 'apps/admin', cluster: 'prod-eu-1', changes: [changeOf({ risk: 'critical', reason: 'SEC-RBAC' })], mode: 'Warn' },
      ...['a', 'b', 'c', 'd'].map((name) => ({ packageName: `apps/${name}`, cluster: 'prod-eu-1', changes: [changeOf()], mode: 'Propose' })),
      { packageName: 'apps/notes', cluster: 'prod-eu-1', changes: [changeOf({ risk: 'low', reason: 'META' })], mode: 'Warn' },
    ],
    modes: { Propose: 4, Warn: 37, Off: 0 },
    muted: { fields: 31, rules: 12 },
    failed: [{ packageName: 'apps/odd', cluster: 'prod-eu-1', code: 'BP1110', why: 'apps/odd/a.yaml:3: a mapping was expected' }],
    incomplete: 1,
    objects: 190,
  },
  policyPath: '.drift/default.policy',
  policyProblem: '',
  limits: { prHourlyLimit: 2, prConcurrentLimit: 10, stormThreshold: 50, stormObjects: 50, stormShare: 20, digest: '0 8 * * MON' },
  files: ['.drift/default.policy'],
  editedBy: undefined,
  rights: GITHUB_SETUP.rights,
}

/** What a person made of it, and what hostile names do in it. */
export const ONBOARDING_EDITED: OnboardingSubject = {
  ...ONBOARDING,
  editedBy: HOSTILE[0] ?? '',
  clusters: [...HOSTILE],
  notImported: HOSTILE.map((text) => ({ source: text, rule: text, why: text })),
  notObserved: [...HOSTILE],
  expected: undefined,
  policyProblem: `.drift/default.policy:3: unknown field spec.${HOSTILE.join('\n')}`,
  files: [...HOSTILE],
}
