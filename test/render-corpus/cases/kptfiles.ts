import { configMap, kptfile, mutated, type RenderCase, text } from '../render-case.ts'

/** What a render makes of the Kptfile itself. */
export const kptfiles: readonly RenderCase[] = [
  {
    name: 'kptfile-with-everything',
    about: 'Upstream, lock, info, inventory and conditions stay as they are, in their order.',
    files: {
      Kptfile: text`
        # The package.
        apiVersion: kpt.dev/v1
        kind: Kptfile
        metadata:
          name: web
          namespace: shop
          labels: {app: web}
          annotations:
            config.kubernetes.io/local-config: "true"
            example.com/note: >-
              folded
              text
        upstream:
          type: git
          git:
            repo: https://example.com/packages.git
            directory: /web
            ref: v1 # pinned
          updateStrategy: resource-merge
        upstreamLock:
          type: git
          git:
            repo: https://example.com/packages.git
            directory: /web
            ref: v1
            commit: 0123456789abcdef0123456789abcdef01234567
        info:
          site: https://example.com
          emails:
            - a@example.com
          license: Apache-2.0
          description: |
            A web server.
          keywords: [web, "demo"]
          man: README.md
          readinessGates:
            - conditionType: Ready
        pipeline:
          mutators:
            - exec: set-labels # which
              name: labels
              configMap:
                # the team
                team: shop
              selectors:
                - kind: ConfigMap
              exclude:
                - name: other
          validators: []
        inventory:
          namespace: shop
          name: inventory
          inventoryID: abc
        status:
          conditions:
            - type: Ready
              status: "True"
              reason: Done
              message: all is well
      `,
      'a.yaml': configMap('a'),
    },
  },
  {
    name: 'kptfile-changed-by-functions',
    about:
      'set-annotations, search-replace and apply-setters reach the Kptfile; set-labels leaves one marked local-config alone.',
    files: {
      Kptfile: text`
        apiVersion: kpt.dev/v1
        kind: Kptfile
        metadata:
          name: root
          annotations:
            config.kubernetes.io/local-config: "true"
        info:
          description: of the team # kpt-set: of \${team}
        pipeline:
          mutators:
          - exec: set-annotations
            configMap: {owner: a}
          - exec: set-labels
            configMap: {app: web}
          - exec: search-replace
            configMap:
              by-path: info.site
              put-value: https://example.com
          - exec: apply-setters
            configMap:
              team: shop
      `,
      'a.yaml': configMap('a'),
    },
  },
  {
    name: 'kptfile-pipeline-changed-while-it-runs',
    about: 'A function that changes the pipeline changes the file, not the run.',
    files: {
      Kptfile: mutated(
        '{exec: search-replace, configMap: {by-value: later, put-value: changed}}',
        '{exec: set-labels, configMap: {a: later}}',
      ),
      'a.yaml': configMap('a'),
    },
  },
  {
    name: 'kptfile-alone',
    about: 'A package of nothing but a Kptfile.',
    files: { Kptfile: mutated('{exec: set-annotations, configMap: {a: b}}') },
  },
  {
    name: 'kptfile-empty-pipelines',
    about: 'Pipelines that name no function, in the ways that there are.',
    files: {
      Kptfile: kptfile('pipeline: {}\n'),
      'a/Kptfile': kptfile('pipeline:\n', 'a'),
      'b/Kptfile': kptfile('pipeline:\n  mutators: []\n  validators:\n', 'b'),
      'c/Kptfile': kptfile('pipeline:\n  mutators:\n', 'c'),
      'c/x.yaml': configMap('x'),
    },
  },
  {
    name: 'kptfile-odd-values',
    about: 'Values that are no text where a text is wanted.',
    files: {
      Kptfile: text`
        apiVersion: kpt.dev/v1
        kind: Kptfile
        metadata:
          name: 123
          labels:
            number: 1
            yes: true
        info:
          description: 2026
          keywords: [1, true]
        pipeline:
          mutators:
          - exec: set-labels
            name: 7
            configMap: {1: 2}
      `,
      'a.yaml': configMap('a'),
    },
  },
  {
    name: 'kptfile-in-quotes-and-flow',
    about: 'A Kptfile in JSON, and one with quoted keys and a document marker.',
    files: {
      Kptfile:
        '{"apiVersion": "kpt.dev/v1", "kind": "Kptfile", "metadata": {"name": "json"}, "pipeline": {"mutators": [{"exec": "set-labels", "configMap": {"a": "b"}}]}}\n',
      'a.yaml': configMap('a'),
      'sub/Kptfile':
        '---\n"apiVersion": \'kpt.dev/v1\'\n"kind": Kptfile\nmetadata: {name: sub}\n"pipeline":\n  "mutators":\n  - {"exec": set-labels, "configMap": {c: d}}\n',
      'sub/b.yaml': configMap('b'),
    },
  },
]
