module schemas

go 1.26.0

require (
	github.com/prometheus-operator/prometheus-operator v0.85.0
	k8s.io/kubernetes v1.37.2
	sigs.k8s.io/gateway-api v1.4.1
)
