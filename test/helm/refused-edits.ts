/** Hand edits of a release of the chart `storefront` that no value leads to, or that would move more than the field. */
import type { HandEdit } from './hand-edits.ts'

export const REFUSED_EDITS: readonly HandEdit[] = [
  {
    name: 'field that the template fixes',
    object: 'apps/Deployment/shop/shop-storefront',
    edits: { 'spec.minReadySeconds': 20 },
    outcome: {
      refused: {
        where: 'charts/storefront/templates/deployment.yaml:11',
        why: 'no value of the chart leads to the field: charts/storefront/templates/deployment.yaml:11 sets it',
      },
    },
    builds: 1,
  },
  {
    name: 'field that no template writes',
    object: 'apps/Deployment/shop/shop-storefront',
    edits: { 'spec.paused': true },
    outcome: {
      refused: {
        where: 'charts/storefront/templates/deployment.yaml:7',
        why: 'no value of the chart leads to the field: no template writes it, and the nearest line above it is charts/storefront/templates/deployment.yaml:7',
      },
    },
    builds: 1,
  },
  {
    name: 'product of two values',
    object: 'apps/Deployment/shop/shop-storefront-worker',
    edits: { 'spec.template.spec.containers[name=worker].resources.limits.memory': '2Gi' },
    outcome: {
      refused: {
        where: 'charts/storefront/templates/worker-deployment.yaml:33',
        why: 'no value of the chart leads to the field: charts/storefront/templates/worker-deployment.yaml:33 sets it from worker.concurrency and worker.memoryMiB, and no other value of these was found to give the live one',
      },
    },
    builds: 1,
  },
  {
    name: 'label that a named template gives every object',
    object: 'policy/PodDisruptionBudget/shop/shop-storefront',
    edits: { 'metadata.labels["app.kubernetes.io/part-of"]': 'store' },
    outcome: {
      refused: {
        where: 'charts/storefront/templates/pdb.yaml:2',
        why: 'its value comes from the value partOf (releases/production.yaml:2), and an edit there would also change metadata.labels["app.kubernetes.io/part-of"] of PriorityClass shop-shop-storefront, metadata.labels["app.kubernetes.io/part-of"] of NetworkPolicy shop-storefront and 20 more',
      },
    },
    builds: 2,
  },
  {
    name: 'global value that two objects read',
    object: 'apps/Deployment/shop/shop-storefront',
    edits: { 'spec.template.spec.containers[name=web].env[name=SHOP_ENVIRONMENT].value': 'test' },
    outcome: {
      refused: {
        where: 'charts/storefront/templates/deployment.yaml:1',
        why: 'its value comes from the value global.environment (releases/production.yaml:3), and an edit there would also change spec.template.spec.containers[0].env[0].value of Deployment shop-cache',
      },
    },
    builds: 2,
  },
  {
    name: 'value that two fields read',
    object: '/ConfigMap/shop/shop-storefront-files',
    edits: { 'data["routes.conf"]': 'upstream shop-storefront\ntimeout 45s\nretries 3' },
    outcome: {
      refused: {
        where: 'charts/storefront/templates/files-configmap.yaml:1',
        why: 'its value comes from the value gracePeriod (releases/production.yaml:2), and an edit there would also change spec.template.spec.terminationGracePeriodSeconds of Deployment shop-storefront',
      },
    },
    builds: 2,
  },
  {
    name: 'entry whose checksum is in an annotation',
    object: '/ConfigMap/shop/shop-storefront',
    edits: { 'data.theme': 'dark' },
    outcome: {
      refused: {
        where: 'charts/storefront/templates/configmap.yaml:1',
        why: 'its value comes from the value config.theme (releases/production.yaml:2), and an edit there would also change spec.template.metadata.annotations["checksum/config"] of Deployment shop-storefront',
      },
    },
    builds: 2,
  },
  {
    name: 'value that a template looks up in the cluster',
    object: '/LimitRange/shop/shop-storefront',
    edits: { 'metadata.annotations["example.com/zone"]': 'north' },
    outcome: {
      refused: {
        where: 'charts/storefront/templates/limitrange.yaml:9',
        why: 'no value of the chart leads to the field: charts/storefront/templates/limitrange.yaml:9 sets it, and charts/storefront/templates/limitrange.yaml:1 asks the cluster (lookup), which has no answer when git is rendered',
      },
    },
    builds: 1,
  },
  {
    name: 'object deleted that nothing switches off',
    object: '/LimitRange/shop/shop-storefront',
    gone: true,
    outcome: {
      refused: {
        where: 'charts/storefront/templates/limitrange.yaml',
        why: 'no value of the chart removes the object, which charts/storefront/templates/limitrange.yaml creates',
      },
    },
    builds: 1,
  },
]
