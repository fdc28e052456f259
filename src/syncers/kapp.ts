import { phrase } from '@backporch/kyaml/text'
import { createUnlistedApplier, isName, UNKNOWN_SOURCE } from './own-resource.ts'
import { type ApplierKind, NO_SYNCER_REPORT, type Syncer } from './syncer.ts'

const APP: ApplierKind = {
  tool: 'kapp',
  title: ({ name }) => phrase`kapp app ${name}`,
  // Label with the object's own identity `v1;<namespace>/<group>/<kind>/<name>;<version>`.
  claim: ({ id, labels, annotations }) => {
    const name = labels.get('kapp.k14s.io/app') ?? ''
    const identity = annotations.get('kapp.k14s.io/identity')?.split(';')[1]
    return isName(name) && identity === `${id.namespace}/${id.group}/${id.kind}/${id.name}`
      ? createUnlistedApplier(name)
      : undefined
  },
  wraps: [],
  selector: () => '',
  source: () => UNKNOWN_SOURCE,
  inventory: 'none',
  keeps: [],
  ownNamespaceOnly: () => false,
  sourcePath: 'none',
  leavesUnmarked: () => false,
  namesObject: false,
  hooks: 'none',
  report: () => NO_SYNCER_REPORT,
  judge: ({ title }) => ({
    restores: 'unknown',
    revertsUnasked: 'unknown',
    sentence: phrase`${title} applied the package; the objects do not show whether kapp-controller repeats it or somebody has to run kapp deploy`,
    command: undefined,
    warnings: [],
  }),
}

export const KAPP: Syncer = {
  name: 'kapp',
  managers: [
    {
      // Updates under the program's name, or the value of --ssa-field-manager.
      names: ['kapp', 'kapp-server-side-apply'],
      class: 'gitops',
      alone: true,
      repeats: 'a GitOps tool',
      what: 'kapp, run by hand or by kapp-controller',
    },
    {
      names: ['kapp*'],
      class: 'gitops',
      alone: false,
      repeats: 'a GitOps tool',
      what: 'other programs of kapp',
    },
  ],
  lastAppliedBy: [],
  accounts: ['kapp-controller'],
  marks: {
    labels: /^kapp\.k14s\.io\//,
    annotations: /^kapp\.k14s\.io\//,
    shared: [],
    writers: [],
    copies: ['kapp.k14s.io/original'],
  },
  directives: new Map(),
  requests: 'none',
  appliers: [APP],
  ignores: [],
  ignoreMark: 'none',
  check: 'none',
}
