"""Aurora: a stream engine of boxes and arrows, and Linear Road as a network of them.

The model, which knows nothing of roads: train, box, windows, join, tables, network, scheduler, qos, shedding.
Linear Road in its terms: vehicles, accidents, statistics, tolls, money, travel, put together in linear_road.
Around them: node (one network and what it asks others), worker, engine; draw and analysis look at it from outside.

An ad-hoc query, while an engine runs, on the last minute of reports and all that come:

    slow = Filter("slow", lambda columns: columns["speed_mph"] < 10)
    engine.attach("reports", [slow], "slow cars", Quality(Graph(((0, 1), (1, 1), (5, 0)))))
    engine.take("slow cars")
"""
